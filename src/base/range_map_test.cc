#include "base/range_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace telltale {
namespace {

TEST(RangeMap, TheLastRangeThatWasSetCounts) {
  RangeMap ranges;
  ranges.set(10, 20, 1);
  ranges.set(15, 15, 9);
  ranges.set(12, 14, 2);
  ranges.set(18, 30, 3);
  EXPECT_EQ(ranges.find(9), std::nullopt);
  EXPECT_EQ(ranges.find(10), 1U);
  EXPECT_EQ(ranges.find(12), 2U);
  EXPECT_EQ(ranges.find(14), 1U);
  EXPECT_EQ(ranges.find(18), 3U);
  EXPECT_EQ(ranges.find(30), std::nullopt);
}

TEST(RangeMap, AgreesWithPaintingEveryNumber) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    RangeMap ranges;
    std::vector<std::optional<size_t>> painted(64);
    for (size_t value = 0; value < 20; ++value) {
      const uint64_t begin = random() % 64;
      const uint64_t end = random() % 65;
      ranges.set(begin, end, value);
      for (uint64_t at = begin; at < end; ++at) painted[at] = value;
    }
    for (uint64_t at = 0; at < 64; ++at) ASSERT_EQ(ranges.find(at), painted[at]) << round;
  }
}

}  // namespace
}  // namespace telltale
