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

struct Calls {
  std::vector<RecordedCall> ended;
  std::vector<RecordedCall> open;
};
Calls calls_of(const ScriptedSource& source, uint32_t function, const CallFilter& filter = {},
               size_t max_depth = std::numeric_limits<size_t>::max()) {
  ProblemLog problems;
  Calls found;
  for_each_call(
      source, filter, max_depth, [&](FunctionId id) { return to_number(id) == function; },
      [&](const RecordedCall& call) {
        (call.ended == CloseKind::unfinished ? found.open : found.ended).push_back(call);
      },
      problems);
  return found;
}

RecordedCall call(uint64_t number, Ticks duration, uint32_t function = 1, size_t stream = 0) {
  return {FunctionId{function}, stream, number, 0, duration, CloseKind::returned};
}

TEST(EachCall, HasItsNumber) {
  const Calls found = calls_of(example(), 2);
  ASSERT_EQ(found.ended.size(), 2U);
  EXPECT_EQ(found.ended[0].call, 2U);
  EXPECT_EQ(found.ended[0].entered, 10U);
  EXPECT_EQ(found.ended[0].duration, 10U);
  EXPECT_EQ(found.ended[1].call, 5U);
  EXPECT_EQ(found.ended[1].duration, 3U);
  ASSERT_EQ(found.open.size(), 1U);
  EXPECT_EQ(found.open[0].call, 6U);
}

TEST(EachCall, TheWindowSelectsByBeginning) {
  CallFilter filter;
  filter.from_ns = 11;
  filter.to_ns = 31;
  const Calls found = calls_of(example(), 2, filter);
  ASSERT_EQ(found.ended.size(), 1U);
  EXPECT_EQ(found.ended[0].entered, 30U);
  EXPECT_TRUE(found.open.empty());
}

TEST(EachCall, TheDepthIsThatOfTheCalls) {
  ScriptedSource source;
  source.thread({1, 7}).enter(0, 2).enter(10, 1).enter(20, 2).leave(30, 2).leave(40, 1).leave(50,
                                                                                              2);
  EXPECT_EQ(calls_of(source, 2).ended.size(), 2U);
  EXPECT_EQ(calls_of(source, 2, {}, 3).ended.size(), 2U);
  const Calls found = calls_of(source, 2, {}, 2);
  ASSERT_EQ(found.ended.size(), 1U);
  EXPECT_EQ(found.ended[0].duration, 50U);
  EXPECT_TRUE(calls_of(source, 2, {}, 0).ended.empty());
}

TEST(CallDetails, WhatWasInsideAndMeanwhile) {
  const ScriptedSource source = example();
  ProblemLog problems;
  const std::vector<CallDetails> all =
      collect_details(source, {}, calls_of(source, 2).ended, problems);
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
    const Calls found = calls_of(source, 2, filter);
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

TEST(DurationCollector, SumsByFunction) {
  DurationCollector collector;
  for (const Ticks duration : {7, 3, 9, 5}) collector.add(call(1, duration, 4));
  RecordedCall open = call(1, 1000, 2);
  open.ended = CloseKind::unfinished;
  collector.add(open);
  open.function = FunctionId{4};
  collector.add(open);
  const std::vector<FunctionDurations> all = collector.finish();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].function, FunctionId{2});
  EXPECT_EQ(all[0].ended, 0U);
  EXPECT_EQ(all[0].open, 1U);
  EXPECT_EQ(all[1].function, FunctionId{4});
  EXPECT_EQ(all[1].ended, 4U);
  EXPECT_EQ(all[1].open, 1U);
  EXPECT_EQ(all[1].min, 3U);
  EXPECT_EQ(all[1].max, 9U);
  // The definition of docs/analysis/profile.md: index floor(n q).
  EXPECT_EQ(all[1].median, 7U);
  EXPECT_EQ(all[1].p90, 9U);
  EXPECT_EQ(all[1].p99, 9U);
}

TEST(DurationCollector, ManyCallsAreEstimated) {
  DurationCollector collector;
  for (Ticks duration = 1; duration <= 100'000; ++duration) collector.add(call(1, duration));
  const FunctionDurations found = collector.finish().front();
  EXPECT_EQ(found.ended, 100'000U);
  EXPECT_EQ(found.max, 100'000U);
  EXPECT_NEAR(static_cast<double>(found.median), 50'001, 50'001 / 128.0);
  EXPECT_NEAR(static_cast<double>(found.p99), 99'001, 99'001 / 128.0);
}

TEST(LongestCalls, OfEquallyLongOnesTheFirst) {
  for (const size_t limit : {3, 0}) {
    LongestCalls longest(limit);
    uint64_t number = 0;
    for (unsigned round = 0; round < 1000; ++round)
      for (const Ticks duration : {5, 9, 2, 9}) longest.add(call(++number, duration));
    longest.add(call(++number, 10));
    RecordedCall open = call(++number, 99);
    open.ended = CloseKind::unfinished;
    longest.add(open);
    const std::vector<RecordedCall> found = longest.finish();
    ASSERT_EQ(found.size(), limit == 0 ? 4001U : limit);
    EXPECT_EQ(found[0].call, 4001U);
    EXPECT_EQ(found[1].call, 2U);
    EXPECT_EQ(found[2].call, 4U);
  }
}

TEST(TypicalCalls, HaveTheNearestDurationToTheMedian) {
  TypicalCalls typical({{.function = FunctionId{1}, .median = 7},
                        {.function = FunctionId{3}, .median = 100},
                        {.function = FunctionId{4}, .median = 1}});
  const std::vector<RecordedCall> calls = {call(1, 9),       call(6, 8, 1, 1), call(5, 6),
                                           call(2, 8, 1, 1), call(3, 101, 3),  call(4, 7, 2)};
  for (const RecordedCall& one : calls) typical.add(one);
  const std::vector<RecordedCall> found = typical.finish();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].call, 5U) << "in the first thread";
  EXPECT_EQ(found[1].call, 3U);
}

TEST(DurationBuckets, PowersOfTwoWithoutGaps) {
  const Clock clock;
  const auto buckets_of = [&](std::initializer_list<Ticks> durations) {
    DurationBuckets buckets(clock);
    for (const Ticks duration : durations) buckets.add(duration);
    return buckets.all();
  };
  const std::vector<DurationBucket> buckets = buckets_of({3, 2, 9, 15, 16});
  ASSERT_EQ(buckets.size(), 4U);
  const std::vector<std::vector<uint64_t>> wanted = {
      {2, 4, 2, 5}, {4, 8, 0, 0}, {8, 16, 2, 24}, {16, 32, 1, 16}};
  for (size_t i = 0; i < buckets.size(); ++i) {
    EXPECT_EQ(
        (std::vector{buckets[i].from_ns, buckets[i].to_ns, buckets[i].calls, buckets[i].total_ns}),
        wanted[i]);
  }
  EXPECT_EQ(buckets_of({0}).front().to_ns, 1U);
  EXPECT_EQ(buckets_of({~uint64_t{0}}).front().from_ns, uint64_t{1} << 63);
  EXPECT_TRUE(buckets_of({}).empty());
}

TEST(DurationBuckets, TicksAreRoundedInSumsOnly) {
  const Clock clock{.name = "TSC", .ticks_per_second = 3'000'000'000};
  DurationBuckets buckets(clock);
  for (int i = 0; i < 1000; ++i) buckets.add(4);
  buckets.add(191);  // 63.7 ns
  buckets.add(192);
  const std::vector<DurationBucket> all = buckets.all();
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(all[0].from_ns, 1U);
  EXPECT_EQ(all[0].total_ns, 1333U);
  EXPECT_EQ(all[5].calls, 1U);
  EXPECT_EQ(all[5].total_ns, 64U);
  EXPECT_EQ(all[6].from_ns, 64U);
  EXPECT_EQ(all[6].calls, 1U);
}

}  // namespace
}  // namespace telltale
