#include "analysis/runtime/runtime_timeline.h"

#include <gtest/gtest.h>

#include <vector>

#include "analysis/heap/heap_growth.h"
#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;
using Step = CollectionStep;

RuntimeTimeline timeline_of(const ScriptedSource& source, size_t workers = 2,
                            const CallFilter& filter = {}) {
  ProblemLog problems;
  return collect_runtime_timeline(source, filter, workers, problems);
}

void collect(ScriptedSource& source, const std::vector<std::pair<Ticks, Step>>& steps,
             uint8_t generation) {
  for (const auto& [time, step] : steps) source.on(CollectionEvent{time, step, generation});
}

TEST(RuntimeTimeline, APauseIsFromTheAskingToTheLastThreadThatRuns) {
  ScriptedSource source;
  source.thread({1, 1});
  collect(source,
          {{10, Step::stopping_world},
           {11, Step::stopping_world_locked},
           {14, Step::stopped_world},
           {15, Step::start},
           {25, Step::end},
           {26, Step::starting_world},
           {28, Step::started_world},
           {29, Step::started_world_unlocked}},
          1);
  source.shard();
  source.enter(40, 1);
  collect(source, {{50, Step::stopping_world}, {1050, Step::stopped_world}}, 0);
  source.shard();
  collect(source, {{1060, Step::starting_world}, {1070, Step::started_world}}, 0);
  const RuntimeTimeline timeline = timeline_of(source);
  ASSERT_EQ(timeline.pauses.size(), 2u);
  const RuntimeTimeline::Pause& first = timeline.pauses[0];
  EXPECT_EQ(first.length(), 18u);
  EXPECT_EQ(*first.stopped - first.begin, 4u);
  EXPECT_EQ(first.generation, 1u);
  EXPECT_EQ(first.collections, 1u);
  EXPECT_FALSE(first.shutdown);
  EXPECT_TRUE(timeline.pauses[1].shutdown);
  EXPECT_EQ(timeline.pauses[1].length(), 1020u);
  ASSERT_EQ(timeline.collections.size(), 1u);
  EXPECT_EQ(timeline.collections[0].end - timeline.collections[0].begin, 10u);
}

TEST(RuntimeTimeline, WhatAThreadDidIsOfTheWindow) {
  ScriptedSource source;
  source.thread({1, 1});
  const auto step = [&](Ticks time) {
    source.enter(time, 1);
    source.on(AllocationEvent{time, TypeId{1}, ObjectId{8}, 100, {}});
    source.on(ThrowEvent{time, ObjectId{8}, {}});
    source.on(MonitorEvent{time, MonitorEvent::Kind::contended, ObjectId{8}, {}});
    source.on(MonitorEvent{time + 5, MonitorEvent::Kind::acquired, ObjectId{8}, {}});
  };
  for (const Ticks time : {0, 10, 20, 30}) step(time);
  CallFilter filter;
  filter.from_ns = 10;
  filter.to_ns = 21;
  const RuntimeTimeline::Thread thread = timeline_of(source, 2, filter).threads.at(0);
  EXPECT_EQ(thread.first, 10u);
  EXPECT_EQ(thread.last, 20u);
  EXPECT_EQ(thread.calls, 2u);
  EXPECT_EQ(thread.allocations, 2u);
  EXPECT_EQ(thread.allocated_bytes, 200u);
  EXPECT_EQ(thread.throws, 2u);
  EXPECT_EQ(thread.waits, 2u);
  EXPECT_EQ(thread.waited, 10u);
}

TEST(RuntimeTimeline, ACollectionMayEndInAnotherThread) {
  ScriptedSource source;
  source.thread({1, 1});
  collect(source, {{10, Step::start}}, 1);
  source.thread({1, 2});
  collect(source, {{40, Step::end}}, 1);
  const RuntimeTimeline timeline = timeline_of(source);
  ASSERT_EQ(timeline.collections.size(), 1u);
  EXPECT_EQ(timeline.collections[0].begin, 10u);
  EXPECT_EQ(timeline.collections[0].end, 40u);
  EXPECT_EQ(timeline.collections[0].stream, 0u);
}

TEST(RuntimeTimeline, APauseNeverEndsBeforeItBegins) {
  ScriptedSource source;
  source.thread({1, 1});
  collect(source,
          {{100, Step::stopping_world},
           {50, Step::stopped_world},
           {30, Step::starting_world},
           {120, Step::stopped_world},
           {10, Step::started_world}},
          0);
  const RuntimeTimeline timeline = timeline_of(source);
  ASSERT_EQ(timeline.pauses.size(), 1u);
  EXPECT_EQ(timeline.pauses[0].length(), 20u);
}

TEST(RuntimeTimeline, TheLastPauseIsNoShutdownIfTheProgramGoesOn) {
  ScriptedSource source;
  source.thread({1, 1});
  collect(source, {{10, Step::stopping_world}, {12, Step::started_world}}, 0);
  source.thread({1, 2}).on(AllocationEvent{20, TypeId{1}, {}, 8, {}});
  EXPECT_FALSE(timeline_of(source).pauses.at(0).shutdown);
  source.thread({1, 3});
  collect(source, {{30, Step::stopping_world}}, 0);  // the recording ends inside
  const RuntimeTimeline timeline = timeline_of(source);
  EXPECT_TRUE(timeline.pauses.at(1).shutdown);
  EXPECT_FALSE(timeline.pauses.at(1).end);
}

TEST(RuntimeTimeline, TheLastPauseIsTheShutdownWhenTheProfilersThreadsHaveEnded) {
  const auto thread_event = [](Ticks time, LoadEvent::Action action, std::string_view name) {
    return LoadEvent{.time = time,
                     .kind = LoadEvent::Kind::thread,
                     .action = action,
                     .has_name = !name.empty(),
                     .name = name,
                     .mvid = {}};
  };
  ScriptedSource source;
  source.thread({1, 1});
  collect(source, {{20, Step::stopping_world}, {50, Step::started_world}}, 1);
  source.on(AllocationEvent{60, TypeId{1}, {}, 8, {}});  // of a finalizer
  EXPECT_FALSE(timeline_of(source).pauses.at(0).shutdown);
  source.thread({1, 2}).on(thread_event(1, LoadEvent::Action::loaded, {}));
  source.on(thread_event(2, LoadEvent::Action::named, "Profiler Writer"));
  EXPECT_FALSE(timeline_of(source).pauses.at(0).shutdown);
  source.on(thread_event(19, LoadEvent::Action::unloaded, {}));
  EXPECT_TRUE(timeline_of(source).pauses.at(0).shutdown);
}

TEST(RuntimeTimeline, EveryPauseAfterTheProfilersFirstThreadHasEndedIsTheShutdown) {
  ScriptedSource source;
  source.thread({1, 1}).on(AllocationEvent{5, TypeId{1}, {}, 8, {}});
  for (const Ticks begin : {10U, 20U, 30U})
    collect(source, {{begin, Step::stopping_world}, {begin + 5, Step::started_world}}, 1);
  source.thread({1, 2});
  const auto thread_event = [&](Ticks time, LoadEvent::Action action, std::string_view name) {
    source.on(LoadEvent{.time = time,
                        .kind = LoadEvent::Kind::thread,
                        .action = action,
                        .has_name = !name.empty(),
                        .name = name,
                        .mvid = {}});
  };
  thread_event(2, LoadEvent::Action::named, "Profiler Helper");
  // A program that is idle and then killed was not shut down.
  EXPECT_FALSE(timeline_of(source).pauses.at(2).shutdown);
  thread_event(19, LoadEvent::Action::unloaded, {});
  const RuntimeTimeline timeline = timeline_of(source);
  EXPECT_FALSE(timeline.pauses.at(0).shutdown);
  EXPECT_TRUE(timeline.pauses.at(1).shutdown);
  EXPECT_TRUE(timeline.pauses.at(2).shutdown);
}

TEST(RuntimeTimeline, ShotsSayWhetherTheyEnded) {
  ScriptedSource source;
  source.thread({1, 1});
  source.on(HeapShotEvent{10, true}).on(HeapShotEvent{12, false}).on(HeapShotEvent{20, true});
  const RuntimeTimeline timeline = timeline_of(source);
  ASSERT_EQ(timeline.shots.size(), 2u);
  EXPECT_TRUE(timeline.shots[0].ended);
  EXPECT_FALSE(timeline.shots[1].ended);
}

TEST(RuntimeTimeline, WaitsEndWithTheThreadsNextOutcome) {
  using Kind = MonitorEvent::Kind;
  ScriptedSource source;
  source.thread({1, 1}).enter(1, 5).on(MonitorEvent{10, Kind::contended, ObjectId{8}, {}});
  source.shard().on(MonitorEvent{30, Kind::acquired, ObjectId{8}, {}});
  source.on(MonitorEvent{31, Kind::acquired, ObjectId{8}, {}});  // of nothing
  source.thread({1, 2}).on(MonitorEvent{5, Kind::contended, ObjectId{16}, source.stack({2, 3})});
  source.on(MonitorEvent{9, Kind::failed, ObjectId{16}, {}});
  source.on(MonitorEvent{40, Kind::contended, ObjectId{16}, {}});
  for (const size_t workers : {1U, 8U}) {
    const RuntimeTimeline timeline = timeline_of(source, workers);
    ASSERT_EQ(timeline.waits.size(), 3u);
    EXPECT_EQ(timeline.waits[0].begin, 5u);
    EXPECT_EQ(*timeline.waits[0].end, 9u);
    EXPECT_FALSE(timeline.waits[0].acquired);
    EXPECT_EQ(timeline.stacks.functions(timeline.waits[0].stack),
              (std::vector<FunctionId>{FunctionId{2}, FunctionId{3}}));
    EXPECT_EQ(*timeline.waits[1].end, 30u);
    EXPECT_TRUE(timeline.waits[1].acquired);
    EXPECT_EQ(timeline.stacks.functions(timeline.waits[1].stack),
              (std::vector<FunctionId>{FunctionId{5}}));
    EXPECT_FALSE(timeline.waits[2].end);
    EXPECT_EQ(timeline.threads.at(0).waited, 20u);
    EXPECT_EQ(timeline.threads.at(1).waits, 2u);
    EXPECT_EQ(timeline.threads.at(0).first, 1u);
    EXPECT_EQ(timeline.threads.at(0).last, 31u);
  }
}

TEST(HeapGrowth, TellsEveryTypeThatEverLived) {
  HeapShots shots;
  const auto shot = [&](Ticks time, const std::vector<std::pair<uint64_t, uint64_t>>& objects) {
    shots.on(HeapShotEvent{time, true});
    for (const auto& [type, bytes] : objects)
      shots.on(HeapObjectEvent{time, ObjectId{1}, TypeId{type}, bytes, 0, {}});
    shots.on(HeapShotEvent{time, false});
  };
  shot(1, {{1, 100}, {2, 50}, {3, 10}});
  shot(2, {{1, 100}, {1, 20}, {3, 40}});
  shot(3, {{1, 100}, {1, 30}, {3, 20}, {4, 5}});
  const std::vector<HeapShots::Shot> taken = shots.take_shots().whole;
  const std::vector<TypeGrowth> growth = heap_growth(taken, LoadedTypes());
  std::vector<std::string> names;
  for (const TypeGrowth& type : growth) names.push_back(type.type);
  EXPECT_EQ(names, (std::vector<std::string>{"#0x1", "#0x3", "#0x4", "#0x2"}));
  EXPECT_EQ(growth[0].bytes(), 30);
  EXPECT_EQ(growth[0].objects(), 1);
  EXPECT_TRUE(growth[0].grows_steadily());
  EXPECT_EQ(growth[1].steps_down, 1u);
  EXPECT_FALSE(growth[1].grows_steadily());
  EXPECT_FALSE(growth[2].grows_steadily());  // new in the last shot
  EXPECT_EQ(growth[3].bytes(), -50);         // gone
}

TEST(HeapGrowth, IsOfEachProcess) {
  HeapShots shots;
  // In turns: one grows from 100 bytes, the other from 1,000.
  for (Ticks time = 0; time < 6; ++time) {
    const size_t process = time % 2;
    shots.on(PieceEvent{.time = time, .offset = time, .stream = process, .process = process});
    shots.on(HeapShotEvent{time, true});
    shots.on(
        HeapObjectEvent{time, ObjectId{1}, TypeId{1}, (process == 0 ? 100U : 1000U) + time, 0, {}});
    shots.on(HeapShotEvent{time, false});
  }
  const std::vector<TypeGrowth> growth = heap_growth(shots.take_shots().whole, LoadedTypes());
  ASSERT_EQ(growth.size(), 2u);
  for (const TypeGrowth& type : growth) {
    EXPECT_TRUE(type.grows_steadily());
    EXPECT_EQ(type.bytes(), 4);
    EXPECT_EQ(type.by_shot.size(), 3u);
  }
  EXPECT_NE(growth[0].process, growth[1].process);
}

}  // namespace
}  // namespace telltale
