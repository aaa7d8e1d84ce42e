#include "analysis/isolation/threshold.h"

#include <gtest/gtest.h>

namespace telltale::isolation {
namespace {

TEST(BestThreshold, SeparatesTheOutcomes) {
  EXPECT_EQ(best_threshold({{3, false}, {9, true}, {1, false}, {7, true}}), 3U);
  // In the other direction.
  EXPECT_EQ(best_threshold({{3, true}, {9, false}, {1, true}, {7, false}}), 3U);
  // One failing run among the small values: 2 of 3 against 0 of 2.
  EXPECT_EQ(best_threshold({{1, true}, {2, false}, {2, false}, {8, true}, {9, true}}), 2U);
  EXPECT_EQ(best_threshold({{0, false}, {UINT64_MAX, true}}), 0U);
}

TEST(BestThreshold, EqualValuesAreNotSeparated) {
  EXPECT_EQ(best_threshold({{4, true}, {4, false}, {5, true}, {5, true}}), 4U);
  EXPECT_EQ(best_threshold({{4, true}, {4, false}}), std::nullopt);
}

TEST(BestThreshold, NeedsBothOutcomes) {
  EXPECT_EQ(best_threshold({{1, true}, {2, true}}), std::nullopt);
  EXPECT_EQ(best_threshold({{1, false}, {2, false}}), std::nullopt);
  EXPECT_EQ(best_threshold({}), std::nullopt);
}

}  // namespace
}  // namespace telltale::isolation
