#include "model/ns_converter.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace telltale {
namespace {

TEST(NsConverter, EqualsTheExactConversion) {
  std::mt19937_64 random(3);
  const auto any = [&random] { return random() >> (random() % 64); };
  std::vector<uint64_t> frequencies = {0,
                                       1,
                                       2,
                                       3,
                                       999'999'999,
                                       1'000'000'000,
                                       1'000'000'001,
                                       2'100'000'000,
                                       std::numeric_limits<uint64_t>::max(),
                                       uint64_t{1} << 62,
                                       uint64_t{1} << 63};
  for (int i = 0; i < 300; ++i) frequencies.push_back(any());
  for (const uint64_t frequency : frequencies) {
    const Clock clock{.name = "test", .ticks_per_second = frequency};
    const NsConverter convert(clock);
    for (uint64_t ticks = 0; ticks < 40; ++ticks)
      ASSERT_EQ(convert(ticks), clock.to_ns(ticks)) << frequency;
    for (int i = 0; i < 2000; ++i) {
      const uint64_t ticks = i == 0 ? std::numeric_limits<uint64_t>::max() : any();
      ASSERT_EQ(convert(ticks), clock.to_ns(ticks)) << frequency << " Hz, " << ticks << " ticks";
    }
  }
}

}  // namespace
}  // namespace telltale
