#include "output/escape.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace telltale {
namespace {

using namespace std::string_literals;

template <void (*kAppend)(std::string&, std::string_view)>
std::string escaped(std::string_view text) {
  std::string out;
  kAppend(out, text);
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

// All code points, hence all boundaries between encoded lengths.
TEST(Escape, EveryCodePointButSurrogatesIsWrittenAndReadBack) {
  for (uint32_t c = 0; c <= 0x10FFFF; ++c) {
    std::string text;
    append_utf8(text, c);
    const size_t bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    ASSERT_EQ(text.size(), bytes) << c;
    const TextPiece piece = first_character(text);
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    ASSERT_EQ(piece.well_formed, !surrogate) << c;
    ASSERT_EQ(piece.code_point, surrogate ? 0xFFFD : c);
    ASSERT_EQ(piece.bytes, surrogate ? 1 : bytes) << c;
  }
}

TEST(Escape, LongerFormsThanNeededAndBeyondTheLastAreIllFormed) {
  for (const char* text : {"\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                           "\xF5\x80\x80\x80", "\x80", "\xBF"}) {
    EXPECT_FALSE(first_character(text).well_formed);
    EXPECT_EQ(first_character(text).bytes, 1U);
  }
  for (const char* text : {"\xC2\x7F", "\xC2\xC0", "\xE1\x7F\x80", "\xE1\xC0\x80"}) {
    EXPECT_FALSE(first_character(text).well_formed);
    EXPECT_EQ(first_character(text).bytes, 1U);
  }
}

// The first and last character of each escaped range, and their neighbours.
TEST(Escape, HiddenCharactersAreThoseOfTheTableAndNoOthers) {
  constexpr std::pair<uint32_t, uint32_t> kHidden[] = {
      {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x180E, 0x180E}, {0x200B, 0x200F},
      {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
  const auto is_shown = [](uint32_t c) {
    std::string text;
    append_utf8(text, c);
    return visible(text) == text;
  };
  for (const auto& [first, last] : kHidden) {
    EXPECT_TRUE(is_shown(first - 1)) << first - 1;
    EXPECT_FALSE(is_shown(first)) << first;
    EXPECT_FALSE(is_shown(last)) << last;
    EXPECT_TRUE(is_shown(last + 1)) << last + 1;
  }
  EXPECT_FALSE(is_shown(0x1F));
  EXPECT_TRUE(is_shown(0x20));
  EXPECT_EQ(visible("\U000E0041"), "\\U000e0041");
}

TEST(Escape, VisibleAsciiIsWhatIsVisibleAsItIs) {
  for (size_t size = 0; size <= 20; ++size) {
    const std::string plain(size, 'x');
    EXPECT_TRUE(is_visible_ascii(plain));
    for (size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text = plain;
        text[place] = static_cast<char>(byte);
        EXPECT_EQ(is_visible_ascii(text), byte < 0x80 && visible(text) == text)
            << size << ' ' << place << ' ' << byte;
      }
    }
  }
}

TEST(Escape, CountsCharactersWhereverTheyStand) {
  for (size_t before = 0; before < 20; ++before) {
    for (size_t after = 0; after < 20; ++after) {
      const std::string text =
          std::string(before, 'a') + "\u00e9" + std::string(after, '\x7F') + "\xFF";
      EXPECT_EQ(count_characters(text), before + after + 2);
    }
  }
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

TEST(Escape, EachAsciiCharacterInJsonAndInScripts) {
  for (char c = 0; c < 0x7F; ++c) {
    const std::string text(1, c);
    const std::string escape = c == '"'    ? "\\\""
                               : c == '\\' ? "\\\\"
                               : c == '\n' ? "\\n"
                               : c == '\r' ? "\\r"
                               : c == '\t' ? "\\t"
                               : c < 0x20  ? fmt::format("\\u{:04x}", c)
                                           : text;
    EXPECT_EQ(escaped<append_json>(text), escape) << int{c};
    const bool markup = c == '<' || c == '>' || c == '&';
    EXPECT_EQ(escaped<append_json_for_script>(text), markup ? fmt::format("\\u{:04x}", c) : escape);
  }
  EXPECT_EQ(escaped<append_json>("\x7F\u0080\u2028"), "\\u007f\u0080\u2028");
  EXPECT_EQ(escaped<append_json_for_script>("\u2027\u2028\u2029\u202A"),
            "\u2027\\u2028\\u2029\u202A");
}

TEST(Escape, CsvQuotesSeparatorsAndGuardsFormulas) {
  EXPECT_EQ(escaped<append_csv>("plain"), "plain");
  EXPECT_EQ(escaped<append_csv>("a,b"), "\"a,b\"");
  EXPECT_EQ(escaped<append_csv>("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(escaped<append_csv>("=1+1"), "'=1+1");
  // Each character that a spreadsheet may interpret as the start of a formula, and the guard
  // character.
  for (const char first : "=+-@\t'"s)
    EXPECT_EQ(escaped<append_csv>(std::string(1, first) + "x"), "'"s + first + "x") << first;
  EXPECT_EQ(escaped<append_csv>("\rx"), "\"'\rx\"");
  // Only at the beginning.
  for (const char inside : "=+-@\t'"s)
    EXPECT_EQ(escaped<append_csv>("x"s + inside), "x"s + inside) << inside;
  // Quotes preserve a leading or trailing blank.
  EXPECT_EQ(escaped<append_csv>(" a"), "\" a\"");
  EXPECT_EQ(escaped<append_csv>("a "), "\"a \"");
  EXPECT_EQ(escaped<append_csv>("a b"), "a b");
  for (const char inside : "\",\r\n\0"s)
    EXPECT_EQ(escaped<append_csv>("x"s + inside).front(), '"') << int{inside};
  EXPECT_EQ(escaped<append_csv>("@a,\n"), "\"'@a,\n\"");
  EXPECT_EQ(escaped<append_csv>("'a"), "''a");
  EXPECT_EQ(escaped<append_csv>(""), "");
  EXPECT_EQ(escaped<append_csv>("\xFF"), "\xEF\xBF\xBD");
}

TEST(Escape, XmlHoldsNoMarkupAndNoCharacterThatXmlForbids) {
  EXPECT_EQ(escaped<append_xml>("<a b=\"c\" d='e'>&]]>"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;]]&gt;");
  EXPECT_EQ(escaped<append_xml>("\x1b\n\uFFFE"), "\xEF\xBF\xBD&#10;\xEF\xBF\xBD");
  EXPECT_EQ(escaped<append_xml>("\t\r"), "&#9;&#13;");
  EXPECT_EQ(escaped<append_xml>("\x1F \x7F\uFFFD\uFFFF\U00010000"),
            "\xEF\xBF\xBD \x7F\xEF\xBF\xBD\xEF\xBF\xBD\U00010000");
}

TEST(Escape, DotStringsQuoteBackslashesAndEntities) {
  EXPECT_EQ(escaped<append_dot>("operator\"\"&lt;\\N"), "\"operator\\\"\\\"&amp;lt;\\\\\\\\N\"");
  EXPECT_EQ(escaped<append_dot>("a\nb"), "\"a\\\\nb\"");
}

// Graphviz: "syntax error scanning a quoted string (missing endquote? longer than 16384?)".
TEST(Escape, DotStringsAreCutWithinGraphvizsLimit) {
  EXPECT_EQ(escaped<append_dot>(std::string(3000, 'a')), '"' + std::string(3000, 'a') + '"');
  EXPECT_EQ(escaped<append_dot>(std::string(6001, 'a')),
            '"' + std::string(3000, 'a') + "\" + \"" + std::string(3000, 'a') + "\" + \"a\"");
  EXPECT_EQ(escaped<append_dot>(std::string(2999, 'a') + "\u00e9"),
            '"' + std::string(2999, 'a') + "\" + \"\u00e9\"");
}

TEST(Escape, HexIsTwoDigitsAByte) { EXPECT_EQ(escaped<append_hex>("\x00\xAf"s), "00af"); }

}  // namespace
}  // namespace telltale
