#include "output/timeline/shown_thread.h"

#include <gtest/gtest.h>

#include <limits>

namespace telltale {
namespace {

TEST(ShownThread, ProcessesWithOnePidHaveDistinctOnes) {
  EXPECT_EQ(distinct_pid({42, 43, 0}), 42);
  EXPECT_EQ(distinct_pid({42, 43, 1}), 42);
  EXPECT_EQ(distinct_pid({42, 43, 2}), 10'000'042);
  EXPECT_EQ(distinct_pid({42, 43, 201}), 2'000'000'042);
  EXPECT_EQ(distinct_pid({42, 43, 202}), 2'000'000'201);
}

TEST(ShownThread, LargePidsOfDamagedFilesDoNotOverflow) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(distinct_pid({kLargest, 1, 1}), kLargest);
  EXPECT_EQ(distinct_pid({kLargest, 1, 2}), 2'000'000'001);
  EXPECT_EQ(distinct_pid({kLargest, 1, 3}), 2'000'000'002);
}

}  // namespace
}  // namespace telltale
