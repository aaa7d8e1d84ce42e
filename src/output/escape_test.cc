#include "output/escape.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace telltale {
namespace {

using namespace std::string_literals;

template <void (*Append)(std::string&, std::string_view)>
std::string escaped(std::string_view text) {
  std::string out;
  Append(out, text);
  return out;
}

// Restores what append_visible wrote; also \x3b and \x23.
std::string restore_visible(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char kind = text.at(++i);
    const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0) {
      out += kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : kind;
      continue;
    }
    const auto value =
        static_cast<uint32_t>(std::stoul(std::string(text.substr(i + 1, digits)), nullptr, 16));
    i += digits;
    if (kind == 'x') {
      out += static_cast<char>(value);
    } else {
      append_utf8(out, value);
    }
  }
  return out;
}

std::vector<std::string> hostile_texts() {
  std::vector<std::string> texts = {
      "",          "plain",    "</script>",    "]]>",          "a\"b'c",
      "tab\there", "nl\nhere", "\x1b[31mred",  "\x1b]0;t\x07", "\u202Egnp.exe",
      "\xff\xfe",  "=1+1",     "+1",           "-1",           "@x",
      "'quote",    "\r=x",     "a;b;c",        "#comment",     "\\n literal",
      "&lt;",      "nul\0in"s, "\u2028\u2029", "\xED\xA0\x80", "\xF4\x90\x80\x80",
      "\xE2\x82",  "\xC0\xAF", "{}<b>|%n",     "\u0085\u009b"};
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (size_t n = random() % 12; n > 0; --n) {
      if (random() % 2 != 0) {
        text += static_cast<char>(random() & 0xFF);
      } else {
        append_utf8(text, static_cast<uint32_t>(random() % 0xD800));
      }
    }
    texts.push_back(text);
  }
  return texts;
}

TEST(Escape, FindsTheMaximalSubpartOfAnIllFormedSequence) {
  EXPECT_EQ(first_character("\xE2\x82\x41").bytes, 2u);
  EXPECT_EQ(first_character("\xE0\x80\x80").bytes, 1u);
  EXPECT_EQ(first_character("\xF0\x9F\x98").bytes, 3u);
  EXPECT_EQ(first_character("\xF0\x9F\x98\x80").code_point, 0x1F600u);
  EXPECT_EQ(first_character("\xED\xA0\x80").bytes, 1u);  // a surrogate
  EXPECT_EQ(count_characters("a\u00e9\xFF\U0001F600"), 4u);
}

TEST(Escape, VisibleTextHasNoControlOrDeceivingCharacterAndCanBeRestored) {
  EXPECT_EQ(visible("a\x1b[1m\n\\"), "a\\x1b[1m\\n\\\\");
  EXPECT_EQ(visible("\u202Ex"), "\\u202ex");
  EXPECT_EQ(visible("\u009b"), "\\u009b");
  EXPECT_EQ(visible("\xFFz\u00fc"), "\\xffz\u00fc");
  for (const std::string& text : hostile_texts()) {
    const std::string shown = visible(text);
    EXPECT_TRUE(is_printable_utf8(shown));
    EXPECT_EQ(shown.find_first_of("\n\t"), std::string::npos);
    EXPECT_EQ(restore_visible(shown), text);
  }
}

TEST(Escape, FoldedFramesHoldNeitherSeparatorNorLineEndAndCanBeRestored) {
  EXPECT_EQ(escaped<append_folded>("#a;b c"), "\\x23a\\x3bb c");
  for (const std::string& text : hostile_texts()) {
    const std::string shown = escaped<append_folded>(text);
    EXPECT_EQ(shown.find_first_of(";\n\r"), std::string::npos);
    EXPECT_EQ(restore_visible(shown), text);
  }
}

std::string repaired(std::string_view text) { return escaped<append_repaired_utf8>(text); }

TEST(Escape, RepairsIllFormedPiecesOnly) {
  EXPECT_EQ(repaired("a\xFF\xE2\x82z\u00fc\n"), "a\uFFFD\uFFFDz\u00fc\n");
}

TEST(Escape, JsonStringsParseToTheSameText) {
  for (const std::string& text : hostile_texts()) {
    EXPECT_EQ(nlohmann::json::parse("\"" + escaped<append_json>(text) + "\"").get<std::string>(),
              repaired(text));
    const std::string script = escaped<append_json_for_script>(text);
    EXPECT_EQ(nlohmann::json::parse("\"" + script + "\"").get<std::string>(), repaired(text));
    EXPECT_EQ(script.find_first_of("<>&"), std::string::npos);
  }
}

TEST(Escape, CsvQuotesSeparatorsAndGuardsFormulas) {
  EXPECT_EQ(escaped<append_csv>("plain"), "plain");
  EXPECT_EQ(escaped<append_csv>("a,b"), "\"a,b\"");
  EXPECT_EQ(escaped<append_csv>("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(escaped<append_csv>("=1+1"), "'=1+1");
  // Each character that a spreadsheet may take for the beginning of a formula, or of our guard.
  for (const char first : "=+-@\t'"s)
    EXPECT_EQ(escaped<append_csv>(std::string(1, first) + "x"), "'"s + first + "x") << first;
  EXPECT_EQ(escaped<append_csv>("\rx"), "\"'\rx\"");
  // Only at the beginning.
  for (const char inside : "=+-@\t'"s)
    EXPECT_EQ(escaped<append_csv>("x"s + inside), "x"s + inside) << inside;
  EXPECT_EQ(escaped<append_csv>("@a,\n"), "\"'@a,\n\"");
  EXPECT_EQ(escaped<append_csv>("'a"), "''a");
  EXPECT_EQ(escaped<append_csv>(""), "");
  EXPECT_EQ(escaped<append_csv>("\xFF"), "\xEF\xBF\xBD");
}

TEST(Escape, XmlHoldsNoMarkupAndNoCharacterThatXmlForbids) {
  EXPECT_EQ(escaped<append_xml>("<a b=\"c\" d='e'>&]]>"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;]]&gt;");
  EXPECT_EQ(escaped<append_xml>("\x1b\n\uFFFE"), "\xEF\xBF\xBD&#10;\xEF\xBF\xBD");
}

TEST(Escape, DotStringsQuoteBackslashesAndEntities) {
  EXPECT_EQ(escaped<append_dot>("operator\"\"&lt;\\N"), "\"operator\\\"\\\"&amp;lt;\\\\\\\\N\"");
  EXPECT_EQ(escaped<append_dot>("a\nb"), "\"a\\\\nb\"");
}

TEST(Escape, HexIsTwoDigitsAByte) { EXPECT_EQ(escaped<append_hex>("\x00\xAf"s), "00af"); }

}  // namespace
}  // namespace telltale
