#include "records.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale::st {
namespace {

// Of a text whose byte `at` is the first one of `text`.
size_t truncated_at(size_t at, const std::string& text) {
  const std::string all = std::string(at, 'x') + text;
  return truncated(all.data(), all.size());
}

TEST(TruncatedText, KeepsWholeCharacters) {
  const std::string longest(kMaxTextBytes, 'x');
  EXPECT_EQ(truncated(longest.data(), 0), 0U);
  EXPECT_EQ(truncated_at(1990, "1234567890"), 2000U);
  EXPECT_EQ(truncated_at(1990, "12345678901"), 2000U);
  for (const std::string character : {"\xc3\xa4", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80"}) {
    for (size_t before = 0; before <= character.size(); ++before) {
      for (const char* behind : {"", "y", "\xc3\xa4", "yyyyyyyy"}) {
        const size_t at = kMaxTextBytes - before;
        const bool fits = before == 0 || before == character.size();
        EXPECT_EQ(truncated_at(at, character + behind), fits ? kMaxTextBytes : at)
            << character << " at " << at;
      }
    }
  }
}

TEST(TruncatedText, KeepsBytesThatAreNotUtf8) {
  for (const std::string bytes :
       {"\xe4\xf6\xfc\xdf", "\x80\x80\x80\x80\x80\x80", "\xc3y", "\xe6\xbcy", "\xf0\x9f\x98y",
        "\xff\x80\x80\x80\x80", "\xc0\x80", "\xf5\x80\x80\x80", "yyyyyy", "\xc3\xa4\xa4\xa4\xa4"}) {
    for (size_t before = 0; before < bytes.size(); ++before) {
      if (bytes == "\xc3\xa4\xa4\xa4\xa4" && before == 1) continue;  // a character
      const size_t at = kMaxTextBytes - before;
      if (at + bytes.size() <= kMaxTextBytes) continue;
      EXPECT_EQ(truncated_at(at, bytes), kMaxTextBytes) << at;
    }
  }
  // The text ends within a character.
  EXPECT_EQ(truncated_at(kMaxTextBytes - 2, "\xf0\x9f\x98"), kMaxTextBytes);
}

}  // namespace
}  // namespace telltale::st
