#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <telltale/stacktrack.hpp>

namespace telltale::st::detail {
namespace {

#ifdef TELLTALE_ST_SHORT_NUMBERS
std::string written(uint64_t magnitude, bool negative) {
  const ShortText text = short_number(magnitude, negative);
  char letters[sizeof(text.words)];
  std::memcpy(letters, text.words, sizeof(letters));
  // The bytes after the text are zero.
  for (size_t i = text.bytes; i < sizeof(letters); ++i) EXPECT_EQ(letters[i], 0) << magnitude;
  return {letters, text.bytes};
}

TEST(ShortNumbers, OfAnyLengthAndSign) {
  for (uint64_t power = 1; power <= kShortNumbers; power *= 10) {
    for (const uint64_t number : {power - 1, power, power + 1, power / 2 * 3}) {
      if (number >= kShortNumbers) continue;
      EXPECT_EQ(written(number, false), std::to_string(number));
      EXPECT_EQ(written(number, true), "-" + std::to_string(number));
    }
  }
}

TEST(ShortNumbers, ByChance) {
  std::mt19937_64 random(20240229);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t number = random() % kShortNumbers >> random() % 50;
    ASSERT_EQ(written(number, false), std::to_string(number));
  }
}

// Division by multiplication could be off by one next to multiples of the divisor.
TEST(ShortNumbers, NextToMultiples) {
  for (const uint64_t divisor : {100, 10'000, 1'000'000}) {
    for (uint64_t number = divisor; number <= 100'000'000; number += divisor) {
      if (divisor == 100 && number % 700 != 0) continue;
      for (const uint64_t neighbour : {number - 1, number}) {
        if (written(neighbour, false) != std::to_string(neighbour)) FAIL() << neighbour;
      }
    }
  }
}

TEST(ShortNumbers, FourDigitsEach) {
  for (uint64_t number = 0; number < 10'000; ++number) {
    ASSERT_EQ(written(number, false), std::to_string(number));
    ASSERT_EQ(written(12'340'000 + number, false), std::to_string(12'340'000 + number));
    ASSERT_EQ(written(number * 10'000 + 4321, false), std::to_string(number * 10'000 + 4321));
  }
}
#endif

}  // namespace
}  // namespace telltale::st::detail
