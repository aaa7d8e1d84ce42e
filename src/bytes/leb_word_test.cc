#include "bytes/leb_word.h"

#include <gtest/gtest.h>

#include <array>

namespace telltale {
namespace {

TEST(LebWord, NumbersOfOneToEightBytes) {
  for (unsigned bytes = 1; bytes <= 8; ++bytes) {
    std::array<uint8_t, 8> text;
    text.fill(0xFF);  // the bytes after the number are irrelevant
    uint64_t expected = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      const uint64_t group = (0x2A + 13 * i) & 0x7F;
      text[i] = static_cast<uint8_t>(group | (i + 1 == bytes ? 0 : 0x80));
      expected |= group << (7 * i);
    }
    const uint64_t word = leb_word(text.data());
    const uint64_t ends = ~word & kLebContinues;
    ASSERT_NE(ends, 0U);
    EXPECT_EQ(leb_first_bytes(ends), bytes);
    EXPECT_EQ(leb_bits(leb_first(word, ends)), expected);
  }
}

TEST(LebWord, EveryBitHasItsPlace) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const uint64_t expected = bit % 8 == 7 ? 0 : uint64_t{1} << (bit / 8 * 7 + bit % 8);
    EXPECT_EQ(leb_bits(uint64_t{1} << bit), expected) << bit;
  }
}

TEST(LebWord, SignsAreExtended) {
  EXPECT_EQ(sign_extended(0x3F, 7), 0x3FU);
  EXPECT_EQ(sign_extended(0x40, 7), ~uint64_t{0x3F});
  EXPECT_EQ(sign_extended(0xFF, 7), ~uint64_t{0});  // bits above do not matter
  EXPECT_EQ(sign_extended(1, 1), ~uint64_t{0});
  EXPECT_EQ(sign_extended(uint64_t{1} << 63, 64), uint64_t{1} << 63);
}

}  // namespace
}  // namespace telltale
