#include "analysis/runtime/wait_sums.h"

#include <gmock/gmock.h>

namespace telltale {
namespace {

TEST(WaitSums, CountsOutcomesAndDifferentLocksAndThreads) {
  WaitSums sums;
  sums.add({.begin = 10, .end = 17, .stream = 1, .object = ObjectId{100}, .acquired = true});
  sums.add({.begin = 20, .end = 23, .stream = 2, .object = ObjectId{100}, .acquired = false});
  sums.add({.begin = 30, .end = std::nullopt, .stream = 2, .object = ObjectId{200}});
  EXPECT_EQ(sums.waits(), 3U);
  EXPECT_EQ(sums.acquired, 1U);
  EXPECT_EQ(sums.failed, 1U);
  EXPECT_EQ(sums.unfinished, 1U);
  EXPECT_EQ(sums.total, 10U);
  EXPECT_THAT(sums.lengths(), ::testing::ElementsAre(7, 3, 0));
  EXPECT_EQ(sums.locks(), 2U);
  EXPECT_EQ(sums.threads(), 2U);
}

}  // namespace
}  // namespace telltale
