#include "thread_slots.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tallies.h"

namespace telltale::sampler {
namespace {

constexpr uint32_t kStride = 4;
constexpr uint32_t kAllSlots = (2U << kThreadSlots) - 2;

using Row = std::vector<uint64_t>;

Row count(const SchemeTable& scheme, uint32_t slots, uint32_t bank, uint32_t number, bool take) {
  RowCursor row(scheme, bank);
  for (uint32_t i = 0; i < number; ++i) row.next();
  Row found(scheme.arity);
  count_in_thread_slots(row, slots, take, found.data());
  return found;
}

class ThreadSlotsTest : public testing::Test {
 protected:
  ThreadSlotsTest() {
    scheme_.counters = counters_.data();
    scheme_.rows = 2;
    scheme_.arity = 2;
    scheme_.banks = 1;
    scheme_.copy_stride = kStride;
  }
  uint64_t& counter(uint32_t slot, uint32_t index) {
    return counters_.at(size_t{slot} * kStride + index);
  }
  SchemeTable& scheme() { return scheme_; }
  Row row(uint32_t number, bool take) { return count(scheme_, kAllSlots, 0, number, take); }

 private:
  std::array<uint64_t, size_t{kStride} * (kThreadSlots + 2)> counters_{};
  SchemeTable scheme_ = {};
};

TEST_F(ThreadSlotsTest, AddsUpAllThreads) {
  counter(0, 2) = 1000;
  counter(1, 2) = 3;
  counter(kThreadSlots, 3) = 4;
  counter(1, 1) = 50;
  EXPECT_EQ(row(1, false), (Row{1003, 4}));
  EXPECT_EQ(row(0, false), (Row{0, 50}));
}

TEST_F(ThreadSlotsTest, ReadsOnlySlotsThatAreUsed) {
  counter(0, 0) = 1;
  counter(3, 0) = 10;
  counter(4, 0) = 100;
  EXPECT_EQ(count(scheme(), 1U << 4, 0, 0, false), (Row{101, 0}));
}

TEST_F(ThreadSlotsTest, TakesWithoutChangingWhatThreadsWrite) {
  counter(5, 0) = 8;
  EXPECT_EQ(row(0, true), (Row{8, 0}));
  EXPECT_EQ(counter(5, 0), 8U);
  EXPECT_EQ(row(0, true), (Row{0, 0}));
  ++counter(5, 0);
  counter(6, 1) = 1;
  EXPECT_EQ(row(0, false), (Row{1, 1}));
  EXPECT_EQ(row(0, true), (Row{1, 1}));
  EXPECT_EQ(row(0, true), (Row{0, 0}));
}

// One block: row 1 and row 2 of three.
class ThreadTalliesTest : public testing::Test {
 protected:
  static constexpr uint32_t kRows = 3;

  ThreadTalliesTest() {
    scheme_.counters = counters_.data();
    scheme_.tallies = tallies_.data();
    scheme_.rows = kRows;
    scheme_.arity = kPairCounters;
    scheme_.banks = 1;
    scheme_.blocks = 1;
    scheme_.copy_stride = kRows * kPairCounters;
    scheme_.tally_stride = 2 * kTallyBytes;
    scheme_.tally_blocks = &block_;
  }
  uint64_t& counter(uint32_t slot, uint32_t row, uint32_t relation) {
    return counters_.at((size_t{slot} * kRows + row) * kPairCounters + relation);
  }
  void set(uint32_t slot, uint32_t site, uint8_t less, uint8_t greater, uint8_t observed) {
    const TallyBytes bytes = bytes_of(tallies_of_slot(scheme_, slot), site);
    bytes.less = static_cast<uint8_t>(-less);
    bytes.greater = static_cast<uint8_t>(-greater);
    bytes.observed = static_cast<uint8_t>(-observed);
  }
  Row row(uint32_t number, bool take) { return count(scheme_, kAllSlots, 0, number, take); }
  TallyState& state(uint32_t slot) { return tally_state_of_slot(scheme_, slot); }
  SchemeTable& scheme() { return scheme_; }

 private:
  TallyBlock block_ = {1, 2, 0};
  std::array<uint64_t, size_t{kRows} * kPairCounters*(kThreadSlots + 2)> counters_{};
  alignas(TallyState) std::array<uint8_t, size_t{2} * kTallyBytes * kThreadSlots> tallies_{};
  SchemeTable scheme_ = {};
};

TEST_F(ThreadTalliesTest, AreAddedToTheCountersOfTheirThread) {
  counter(1, 2, 0) = 100;
  set(1, 1, 1, 2, 10);
  set(kThreadSlots, 1, 0, 0, 5);
  set(kThreadSlots, 0, 3, 0, 3);
  EXPECT_EQ(row(0, false), (Row{0, 0, 0}));
  EXPECT_EQ(row(1, false), (Row{3, 0, 0}));
  EXPECT_EQ(row(2, false), (Row{101, 12, 2}));
}

TEST_F(ThreadTalliesTest, AreTakenOnceAlsoIfTheirThreadAddsThemUpLater) {
  set(3, 0, 1, 2, 255);
  EXPECT_EQ(row(1, true), (Row{1, 252, 2}));
  EXPECT_EQ(row(1, true), (Row{0, 0, 0}));
  telltale_sampler_add_up_v3(tallies_of_slot(scheme(), 3), tallies_of_slot(scheme(), 3),
                             scheme().tally_blocks, &counter(3, 0, 0), kRows, 1, &state(3), 0);
  EXPECT_EQ(counter(3, 1, 1), 252U);
  EXPECT_EQ(state(3).flushes, 2U);
  EXPECT_EQ(row(1, true), (Row{0, 0, 0}));
  set(3, 0, 0, 0, 4);
  EXPECT_EQ(row(1, true), (Row{0, 4, 0}));
}

TEST_F(ThreadTalliesTest, AFlushThatNeverEndsIsNotWaitedForAndTheNextOneEndsIt) {
  state(2).flushes = 5;
  set(2, 0, 0, 7, 7);
  EXPECT_EQ(row(1, true), (Row{0, 0, 7}));
  {
    const Flush flush(&state(2));
  }
  EXPECT_EQ(state(2).flushes, 6U);
}

TEST_F(ThreadTalliesTest, LaterReportsMakeUpForOnesOfMoreThanThereWas) {
  set(2, 0, 0, 7, 7);
  counter(2, 1, 2) = 7;  // the thread is just adding them up
  EXPECT_EQ(row(1, true), (Row{0, 0, 14}));
  set(2, 0, 0, 0, 0);
  EXPECT_EQ(row(1, true), (Row{0, 0, 0}));
  counter(2, 1, 2) = 15;
  EXPECT_EQ(row(1, true), (Row{0, 0, 1}));
}

TEST_F(ThreadTalliesTest, WhatSeemedNotToBeThereIsNotReportedAgain) {
  set(2, 0, 0, 0, 7);
  EXPECT_EQ(row(1, true), (Row{0, 7, 0}));
  set(2, 0, 3, 0, 7);  // the thread has not counted yet that it has observed
  EXPECT_EQ(row(1, true), (Row{3, 0, 0}));
  set(2, 0, 3, 0, 10);
  EXPECT_EQ(row(1, true), (Row{0, 0, 0}));
}

TEST_F(ThreadTalliesTest, AResetLeavesNothingToReportAlsoAfterAReportOfTooMuch) {
  set(2, 0, 0, 7, 7);
  counter(2, 1, 2) = 7;
  EXPECT_EQ(row(1, true), (Row{0, 0, 14}));
  set(2, 0, 0, 0, 0);
  counter(3, 2, 0) = 4;
  reset_thread_slots(scheme(), kAllSlots);
  EXPECT_EQ(row(1, true), (Row{0, 0, 0}));
  EXPECT_EQ(row(2, true), (Row{0, 0, 0}));
  ++counter(2, 1, 2);
  EXPECT_EQ(row(1, true), (Row{0, 0, 1}));
}

TEST_F(ThreadTalliesTest, AChildForgetsThoseOfThreadsThatItDoesNotHave) {
  set(2, 0, 0, 0, 255);
  state(2).flushes = 3;
  state(4).in_use = 1;
  forget_tallies_of_threads(scheme(), kAllSlots);
  EXPECT_EQ(row(1, true), (Row{0, 0, 0}));
  EXPECT_EQ(state(2).flushes, 0U);
  EXPECT_EQ(state(4).in_use, 1U);  // may be the child's own thread, in a signal handler
}

// Two banks of counters for all threads, and what was taken of them.
TEST(SharedCounters, HaveTalliesOfThreads) {
  const TallyBlock block = {0, 1, 0};
  constexpr uint32_t kBanks = 2;
  std::array<uint64_t, size_t{2} * kBanks * kPairCounters> counters{};
  alignas(TallyState) std::array<uint8_t, size_t{3} * kTallyBytes * kThreadSlots> tallies{};
  SchemeTable scheme = {};
  scheme.counters = counters.data();
  scheme.tallies = tallies.data();
  scheme.rows = 1;
  scheme.arity = kPairCounters;
  scheme.banks = kBanks;
  scheme.blocks = 1;
  scheme.tally_stride = 3 * kTallyBytes;
  scheme.tally_blocks = &block;
  const auto row = [&](uint32_t bank, bool take) {
    return count(scheme, kAllSlots, bank, 0, take);
  };
  uint8_t* const second_bank = tallies_of_slot(scheme, 7) + kTallyBytes;
  bytes_of(second_bank, 0).greater = static_cast<uint8_t>(-3);
  bytes_of(second_bank, 0).observed = static_cast<uint8_t>(-255);
  counters.at(kPairCounters) = 10;
  EXPECT_EQ(row(0, true), (Row{0, 0, 0}));
  EXPECT_EQ(row(1, true), (Row{10, 252, 3}));
  telltale_sampler_add_up_v3(second_bank, tallies_of_slot(scheme, 7), &block, counters.data(), 1,
                             kBanks, &tally_state_of_slot(scheme, 7), 1);
  EXPECT_EQ(counters.at(kPairCounters + 1), 252U);
  EXPECT_EQ(row(1, true), (Row{0, 0, 0}));
  counters.at(0) = 1;
  EXPECT_EQ(row(0, true), (Row{1, 0, 0}));
  EXPECT_EQ(row(0, true), (Row{0, 0, 0}));
}

}  // namespace
}  // namespace telltale::sampler
