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
  uint64_t text[2] = {~uint64_t{0}, ~uint64_t{0}};
  const size_t bytes = write_short_number(magnitude, negative, text);
  char letters[sizeof(text)];
  std::memcpy(letters, text, sizeof(text));
  // The bytes after the text are zero.
  for (size_t i = bytes; i < sizeof(letters); ++i) EXPECT_EQ(letters[i], 0) << magnitude;
  return {letters, bytes};
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
