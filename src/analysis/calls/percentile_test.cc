#include "analysis/calls/percentile.h"

#include <gtest/gtest.h>

#include <numeric>

namespace telltale {
namespace {

TEST(Percentile, IsTheValueOfTheNearestRank) {
  EXPECT_EQ(percentile({7}, 50), 7U);
  EXPECT_EQ(percentile({3, 5}, 50), 3U);
  EXPECT_EQ(percentile({3, 5}, 51), 5U);
  EXPECT_EQ(percentile({2, 4, 6}, 50), 4U);
  std::vector<Ticks> hundred(100);
  std::iota(hundred.begin(), hundred.end(), Ticks{1});
  EXPECT_EQ(percentile(hundred, 90), 90U);
  EXPECT_EQ(percentile(hundred, 99), 99U);
  EXPECT_EQ(percentile(hundred, 100), 100U);
}

}  // namespace
}  // namespace telltale
