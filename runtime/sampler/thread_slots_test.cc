#include "thread_slots.h"

#include <gtest/gtest.h>

#include <array>

namespace telltale::sampler {
namespace {

constexpr uint32_t kStride = 4;

class ThreadSlotsTest : public testing::Test {
 protected:
  ThreadSlotsTest() {
    scheme_.counters = counters_.data();
    scheme_.copy_stride = kStride;
  }
  uint64_t& counter(uint32_t slot, uint32_t index) {
    return counters_.at(size_t{slot} * kStride + index);
  }

  std::array<uint64_t, size_t{kStride} * (kThreadSlots + 2)> counters_{};
  SchemeTable scheme_ = {};
};

TEST_F(ThreadSlotsTest, AddsUpAllThreadsButNotTheFirstCopy) {
  counter(0, 2) = 1000;
  counter(1, 2) = 3;
  counter(kThreadSlots, 2) = 4;
  counter(1, 1) = 50;
  EXPECT_EQ(count_in_thread_slots(scheme_, 2, false), 7U);
  EXPECT_EQ(count_in_thread_slots(scheme_, 3, false), 0U);
}

TEST_F(ThreadSlotsTest, TakesWithoutChangingWhatThreadsWrite) {
  counter(5, 0) = 8;
  EXPECT_EQ(count_in_thread_slots(scheme_, 0, true), 8U);
  EXPECT_EQ(counter(5, 0), 8U);
  EXPECT_EQ(count_in_thread_slots(scheme_, 0, true), 0U);
  ++counter(5, 0);
  counter(6, 0) = 1;
  EXPECT_EQ(count_in_thread_slots(scheme_, 0, false), 2U);
  EXPECT_EQ(count_in_thread_slots(scheme_, 0, true), 2U);
  EXPECT_EQ(count_in_thread_slots(scheme_, 0, true), 0U);
}

TEST_F(ThreadSlotsTest, SchemesWithOneCopyHaveNothing) {
  counter(1, 0) = 8;
  scheme_.copy_stride = 0;
  EXPECT_EQ(count_in_thread_slots(scheme_, 0, true), 0U);
}

}  // namespace
}  // namespace telltale::sampler
