#include "analysis/calls/call_durations.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;

ScriptedSource example() {
  ScriptedSource source;
  source.thread({1, 7})
      .enter(0, 1)
      .enter(10, 2)
      .argument(5)
      .enter(11, 3)
      .leave(14, 3)
      .instant(15, "custom", "miss")
      .shard()
      .enter(16, 3)
      .leave(18, 3)
      .leave(20, 2)
      .enter(30, 2)
      .leave(33, 2)
      .leave(40, 1)
      .enter(50, 2);
  source.thread({1, 8}).enter(5, 4).leave(12, 4).enter(18, 5).leave(60, 5);
  return source;
}

CallDurations durations_of(const ScriptedSource& source, uint32_t function,
                           const CallFilter& filter = {},
                           size_t max_depth = std::numeric_limits<size_t>::max()) {
  ProblemLog problems;
  return collect_durations(
      source, filter, max_depth, [&](FunctionId id) { return to_number(id) == function; },
      problems);
}

TEST(CallDurations, EachCallWithItsNumber) {
  const CallDurations found = durations_of(example(), 2);
  ASSERT_EQ(found.ended.size(), 2U);
  EXPECT_EQ(found.ended[0].call, 2U);
  EXPECT_EQ(found.ended[0].entered, 10U);
  EXPECT_EQ(found.ended[0].duration, 10U);
  EXPECT_EQ(found.ended[1].call, 5U);
  EXPECT_EQ(found.ended[1].duration, 3U);
  ASSERT_EQ(found.open.size(), 1U);
  EXPECT_EQ(found.open[0].call, 6U);
}

TEST(CallDurations, TheWindowSelectsByBeginning) {
  CallFilter filter;
  filter.from_ns = 11;
  filter.to_ns = 31;
  const CallDurations found = durations_of(example(), 2, filter);
  ASSERT_EQ(found.ended.size(), 1U);
  EXPECT_EQ(found.ended[0].entered, 30U);
  EXPECT_TRUE(found.open.empty());
}

TEST(CallDurations, TheDepthIsThatOfTheCalls) {
  ScriptedSource source;
  source.thread({1, 7}).enter(0, 2).enter(10, 1).enter(20, 2).leave(30, 2).leave(40, 1).leave(50,
                                                                                              2);
  EXPECT_EQ(durations_of(source, 2).ended.size(), 2U);
  EXPECT_EQ(durations_of(source, 2, {}, 3).ended.size(), 2U);
  const CallDurations found = durations_of(source, 2, {}, 2);
  ASSERT_EQ(found.ended.size(), 1U);
  EXPECT_EQ(found.ended[0].duration, 50U);
  EXPECT_TRUE(durations_of(source, 2, {}, 0).ended.empty());
}

TEST(CallDetails, WhatWasInsideAndMeanwhile) {
  const ScriptedSource source = example();
  ProblemLog problems;
  const std::vector<CallDetails> all =
      collect_details(source, {}, durations_of(source, 2).ended, problems);
  ASSERT_EQ(all.size(), 2U);
  const CallDetails& slow = all[0];
  EXPECT_EQ(slow.arguments, std::vector<uint64_t>{5});
  ASSERT_EQ(slow.callees.size(), 1U);
  EXPECT_EQ(slow.callees.at(FunctionId{3}).calls, 2U);
  EXPECT_EQ(slow.callees.at(FunctionId{3}).total, 5U);
  ASSERT_EQ(slow.events.size(), 1U);
  EXPECT_EQ(slow.events[0].payload, "miss");
  EXPECT_EQ(slow.event_count, 1U);
  ASSERT_EQ(slow.meanwhile.size(), 1U);
  EXPECT_EQ(slow.meanwhile[0].stream, 1U);
  EXPECT_EQ(slow.meanwhile[0].self.at(FunctionId{4}), 2U) << "10 to 12";
  EXPECT_EQ(slow.meanwhile[0].outside, 6U) << "12 to 18";
  EXPECT_EQ(slow.meanwhile[0].self.at(FunctionId{5}), 2U) << "18 to 20";
  EXPECT_TRUE(all[1].callees.empty());
  EXPECT_TRUE(all[1].events.empty());
  EXPECT_EQ(all[1].meanwhile[0].self.at(FunctionId{5}), 3U);
}

// Functions and depth select what is seen inside the calls, not the calls.
TEST(CallDetails, FunctionsAndDepthSelectWhatIsSeenInside) {
  ScriptedSource source;
  source.thread({1, 7})
      .enter(0, 1)
      .enter(10, 2)
      .enter(11, 3)
      .enter(12, 4)
      .leave(14, 4)
      .leave(15, 3)
      .enter(16, 2)
      .enter(17, 4)
      .leave(20, 4)
      .leave(22, 2)
      .leave(30, 2)
      .leave(40, 1);
  source.thread({1, 8}).enter(5, 3).enter(12, 4).leave(18, 4).leave(60, 3);
  ProblemLog problems;
  const auto seen = [&](const CallFilter& filter) {
    const CallDurations found = durations_of(source, 2, filter);
    EXPECT_EQ(found.ended.size(), 2U);
    std::vector<CallDetails> details = collect_details(source, filter, found.ended, problems);
    EXPECT_EQ(details.back().which.call, 2U) << "of 10 to 30";
    return details;
  };
  CallFilter only_4;
  only_4.functions = {"#4"};
  const std::vector<CallDetails> by_name = seen(only_4);
  ASSERT_EQ(by_name[1].callees.size(), 1U);
  EXPECT_EQ(by_name[1].callees.at(FunctionId{4}).calls, 2U) << "in 3, and in the inner call of 2";
  EXPECT_EQ(by_name[1].callees.at(FunctionId{4}).total, 5U);
  EXPECT_EQ(by_name[0].callees.at(FunctionId{4}).total, 3U);
  ASSERT_EQ(by_name[1].meanwhile.size(), 1U);
  EXPECT_EQ(by_name[1].meanwhile[0].self.at(FunctionId{4}), 6U) << "12 to 18";
  EXPECT_EQ(by_name[1].meanwhile[0].outside, 14U) << "in no call that is seen";
  CallFilter shallow;
  shallow.max_depth = 1;
  const std::vector<CallDetails> by_depth = seen(shallow);
  EXPECT_TRUE(by_depth[1].callees.empty());
  EXPECT_EQ(by_depth[1].meanwhile[0].self.at(FunctionId{3}), 20U);
}

// The definition of docs/analysis/profile.md: index floor(n q).
TEST(CallDurations, PercentilesAreThoseOfTop) {
  EXPECT_EQ(duration_at({1, 2}, 50), 2U);
  EXPECT_EQ(duration_at({1, 2, 3}, 50), 2U);
  EXPECT_EQ(duration_at({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 90), 10U);
  EXPECT_EQ(duration_at({1}, 99), 1U);
  EXPECT_EQ(duration_at({1, 2}, 100), 2U);
}

TEST(TypicalCall, HasTheMedianDuration) {
  const auto call = [](uint64_t number, Ticks duration) {
    return RecordedCall{FunctionId{1}, 0, number, 0, duration, CloseKind::returned};
  };
  EXPECT_EQ(typical_call({call(1, 9), call(2, 5), call(3, 7)}).call, 3U);
  EXPECT_EQ(typical_call({call(4, 5), call(2, 5), call(3, 5), call(1, 90)}).call, 2U);
  EXPECT_EQ(typical_call({call(1, 9)}).call, 1U);
  EXPECT_EQ(typical_call({call(1, 9), call(2, 5)}).call, 1U);
}

TEST(DurationBuckets, PowersOfTwoWithoutGaps) {
  const std::vector<DurationBucket> buckets = duration_buckets({3, 2, 9, 15, 16});
  ASSERT_EQ(buckets.size(), 4U);
  const std::vector<std::vector<uint64_t>> wanted = {
      {2, 4, 2, 5}, {4, 8, 0, 0}, {8, 16, 2, 24}, {16, 32, 1, 16}};
  for (size_t i = 0; i < buckets.size(); ++i) {
    EXPECT_EQ(
        (std::vector{buckets[i].from_ns, buckets[i].to_ns, buckets[i].calls, buckets[i].total_ns}),
        wanted[i]);
  }
  EXPECT_EQ(duration_buckets({0}).front().to_ns, 1U);
  EXPECT_EQ(duration_buckets({~uint64_t{0}}).front().from_ns, uint64_t{1} << 63);
  EXPECT_TRUE(duration_buckets({}).empty());
}

}  // namespace
}  // namespace telltale
