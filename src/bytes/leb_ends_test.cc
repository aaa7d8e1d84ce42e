#include "bytes/leb_ends.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

#include "bytes/advance_predicted.h"

namespace telltale {
namespace {

TEST(LebEnds, OneBitForEachByteThatEndsANumber) {
  std::array<uint8_t, 64> bytes;
  for (unsigned end = 0; end < bytes.size(); ++end) {
    bytes.fill(0x80);
    bytes[end] = 0x7F;
    const uint64_t bit = uint64_t{1} << end;
    EXPECT_EQ(leb_ends<64>(bytes.data()), bit);
    EXPECT_EQ(leb_ends<32>(bytes.data()), end < 32 ? bit : 0);
    EXPECT_EQ(leb_ends<16>(bytes.data()), end < 16 ? bit : 0);
  }
}

TEST(LebEnds, EightContinuedBytesMayBeALongNumber) {
  for (unsigned at = 0; at <= 24; ++at) {
    EXPECT_TRUE(leb_may_be_long<32>(~(uint64_t{0xFF} << at) & 0xFFFF'FFFF)) << at;
    EXPECT_FALSE(leb_may_be_long<32>(~(uint64_t{0x7F} << at) & 0xFFFF'FFFF)) << at;
  }
  EXPECT_FALSE(leb_may_be_long<32>(0xFFFF'FFFF));  // no bit beyond the bytes counts
}

template <typename Leb>
void expect_right() {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t word = random();
    EXPECT_EQ(Leb::bits(word), leb_bits(word));
    const uint64_t set = random() & random();
    unsigned below = 0;
    for (unsigned bit = 0; bit < 64; ++bit)
      if ((set >> bit & 1) != 0) {
        EXPECT_EQ(Leb::nth(set, below++), bit);
      }
    if (below < 64) {
      EXPECT_EQ(Leb::nth(set, below), 64U);
    }
  }
  EXPECT_EQ(Leb::nth(0, 0), 64U);
}

TEST(LebEnds, PortableNumbersAndPlaces) { expect_right<LebPortable>(); }

#ifdef TELLTALE_HAS_BMI2
TEST(LebEnds, Bmi2NumbersAndPlaces) {
  if (!LebBmi2::is_fast()) GTEST_SKIP() << "not on this processor";
  expect_right<LebBmi2>();
}
#endif

TEST(AdvancePredicted, IsAnAddition) {
  const std::array<uint8_t, 100> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(advance_predicted(bytes.data(), i), bytes.data() + i);
}

}  // namespace
}  // namespace telltale
