#include "analysis/runtime/weighted_stacks.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/runtime/weighted_tree.h"
#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;
using Folded = std::map<std::string, std::pair<uint64_t, uint64_t>>;  // path -> events, value

// Every node that has events of its own, by its path with the stream first.
Folded folded(const ScriptedSource& source, StackMetric metric, size_t workers,
              const CallFilter& filter = {}) {
  ProblemLog problems;
  const WeightedStacks stacks = collect_weighted_stacks(source, metric, filter, workers, problems);
  FrameNames names(source.functions());
  const CallTree tree =
      weighted_tree(stacks, metric, WeightOf::value, {}, names).finish(source.streams());
  Folded paths;
  for (const CallTree::Root& root : tree.roots) {
    std::vector<std::string> path;
    for (size_t i = root.node; i < tree.nodes[root.node].end; ++i) {
      const CallTree::Node& node = tree.nodes[i];
      path.resize(node.depth);
      path.push_back(node.depth == 0 ? std::to_string(root.thread.tid)
                                     : names.describe(node.function).name);
      if (node.calls == 0) {
        EXPECT_EQ(node.self, 0u);
        continue;
      }
      std::string text;
      for (const std::string& frame : path) text += (text.empty() ? "" : ";") + frame;
      paths[text] = {node.calls, node.self};
    }
  }
  return paths;
}

std::string frames(const std::vector<uint32_t>& stack) {
  std::string text;
  for (const uint32_t id : stack) text += ";#" + std::to_string(id);
  return text;
}

LoadEvent type_named(uint64_t id, std::string_view name) {
  return {.kind = LoadEvent::Kind::type,
          .action = LoadEvent::Action::loaded,
          .id = id,
          .has_name = true,
          .name = name,
          .mvid = {}};
}

// A random program, and its sums by the plainest bookkeeping.
struct Random {
  ScriptedSource source;
  Folded allocations;
  Folded waits;
  Folded throws;

  explicit Random(unsigned seed) {
    std::mt19937 random(seed);
    for (int64_t tid = 1; tid <= 3; ++tid) thread(tid, random);
  }

 private:
  void thread(int64_t tid, std::mt19937& random) {
    source.thread({1, tid});
    source.on(PieceEvent{.offset = static_cast<uint64_t>(tid),
                         .stream = static_cast<size_t>(tid - 1),
                         .thread = tid});
    if (tid == 3)  // after its first use by other threads
      source.on(type_named(100, "Order")).on(type_named(101, "Item"));
    const std::string thread_text = std::to_string(tid);
    std::vector<uint32_t> open;
    Ticks now = 1;
    Ticks waiting_since = 0;
    std::vector<uint32_t> waiting_stack;
    for (int step = 0; step < 400; ++step, now += random() % 5) {
      const bool recorded = random() % 3 == 0;
      std::vector<uint32_t> stack = open;
      RecordedStack event_stack;
      if (recorded) {
        stack.clear();
        for (unsigned i = 0; i < random() % 4; ++i)
          stack.push_back(static_cast<uint32_t>(random() % 5 + 1));
        event_stack = source.stack(stack);
      }
      const auto count = [&](Folded& to, const std::vector<uint32_t>& at, const std::string& leaf,
                             uint64_t value) {
        std::string path = thread_text + frames(at);
        if (!leaf.empty()) path += ";" + leaf;
        if (path == thread_text) path += ";[no stack]";
        ++to[path].first;
        to[path].second += value;
      };
      switch (random() % 6) {
        case 0:
          open.push_back(static_cast<uint32_t>(random() % 5 + 1));
          source.enter(now, open.back());
          break;
        case 1:
          if (open.empty()) break;
          source.leave(now, open.back());
          open.pop_back();
          break;
        case 2: {
          const uint64_t type = 100 + random() % 3;
          const uint64_t bytes = random() % 1000;
          source.on(AllocationEvent{now, TypeId{type}, ObjectId{}, bytes, event_stack});
          count(allocations, stack, type == 100 ? "Order" : type == 101 ? "Item" : "#0x66", bytes);
          break;
        }
        case 3:
          source.on(ThrowEvent{now, ObjectId{1}, event_stack});
          count(throws, stack, "", 1);
          break;
        case 4:
          source.on(MonitorEvent{now, MonitorEvent::Kind::contended, ObjectId{7}, event_stack});
          waiting_since = now;
          waiting_stack = stack;
          break;
        default:
          source.on(MonitorEvent{now, MonitorEvent::Kind::acquired, ObjectId{7}, event_stack});
          if (waiting_since != 0) count(waits, waiting_stack, "", now - waiting_since);
          waiting_since = 0;
      }
      if (random() % 40 == 0) source.shard();
    }
  }
};

TEST(WeightedStacks, SaysWhatPlainBookkeepingSays) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Random program(seed);
    for (const size_t workers : {1U, 2U, 8U}) {
      EXPECT_EQ(folded(program.source, StackMetric::allocations, workers), program.allocations);
      EXPECT_EQ(folded(program.source, StackMetric::throws, workers), program.throws);
      EXPECT_EQ(folded(program.source, StackMetric::waits, workers), program.waits);
    }
  }
}

TEST(WeightedStacks, TakesFiltersOfThreadsTimesFunctionsAndDepth) {
  ScriptedSource source;
  source.thread({1, 1}).enter(10, 1).enter(20, 2).enter(30, 3);
  source.on(AllocationEvent{40, TypeId{5}, {}, 8, {}})
      .on(AllocationEvent{50, TypeId{5}, {}, 16, {}});
  source.thread({1, 2}).on(AllocationEvent{45, TypeId{5}, {}, 32, {}});
  const Folded all = {{"1;#1;#2;#3;#0x5", {2, 24}}, {"2;#0x5", {1, 32}}};
  EXPECT_EQ(folded(source, StackMetric::allocations, 1), all);
  CallFilter filter;
  filter.threads = {{.pid = {}, .tid = 1}};
  filter.from_ns = 45;
  EXPECT_EQ(folded(source, StackMetric::allocations, 1, filter),
            (Folded{{"1;#1;#2;#3;#0x5", {1, 16}}}));
  CallFilter frames_only;
  frames_only.functions = {"#[13]"};
  EXPECT_EQ(folded(source, StackMetric::allocations, 1, frames_only).begin()->first,
            "1;#1;#3;#0x5");
  frames_only.functions = {};
  frames_only.max_depth = 2;
  EXPECT_EQ(folded(source, StackMetric::allocations, 1, frames_only).begin()->first,
            "1;#1;#2;#0x5");
}

TEST(WeightedStacks, KnowsTheTypeOfAnExceptionThatTheThreadHasJustMade) {
  ScriptedSource source;
  source.thread({1, 1}).on(type_named(9, "Refused"));
  source.on(AllocationEvent{1, TypeId{9}, ObjectId{64}, 8, {}});
  source.on(AllocationEvent{2, TypeId{8}, ObjectId{72}, 8, {}});
  source.on(ThrowEvent{3, ObjectId{64}, source.stack({4})});
  EXPECT_EQ(folded(source, StackMetric::throws, 1), (Folded{{"1;#4;Refused", {1, 1}}}));
}

TEST(WeightedStacks, PutsSamplesToTheThreadThatRanAndNamesNativeCode) {
  ScriptedSource source;
  source.thread({1, 1}).thread({1, 2});
  source.on(CompiledEvent{0, FunctionId{3}, 0x1000, 0x100, "managed"});
  source.on(NativeSymbolEvent{0, 0x8000, 0, "memcpy"});
  const auto sample = [&](int64_t tid, uint64_t address) {
    source.on(SampleEvent{5, true, tid, source.kept(std::vector<uint64_t>{address}),
                          source.stack({2, 3}), 0});
  };
  sample(1, 0x10FF);
  sample(1, 0x1100);
  sample(1, 0x8010);
  sample(99, 0x1000);  // a thread that wrote no events
  EXPECT_EQ(folded(source, StackMetric::samples, 2), (Folded{{"1;#2;#3", {1, 1}},
                                                             {"1;#2;#3;[native code]", {1, 1}},
                                                             {"1;#2;#3;memcpy", {1, 1}},
                                                             {"2;#2;#3", {1, 1}}}));
}

TEST(WeightedTree, CutsPathsThatAreTooDeepAndSaysSo) {
  ScriptedSource source;
  source.thread({1, 1});
  source.on(AllocationEvent{1, TypeId{5}, {}, 8, source.stack({1, 2, 3, 4})});
  ProblemLog problems;
  const WeightedStacks stacks =
      collect_weighted_stacks(source, StackMetric::allocations, {}, 1, problems);
  FrameNames names(source.functions());
  const CallTree tree =
      weighted_tree(stacks, StackMetric::allocations, WeightOf::count, {.max_depth = 3}, names)
          .finish(source.streams());
  ASSERT_EQ(tree.nodes.size(), 4u);
  EXPECT_EQ(names.describe(tree.nodes[3].function).name, "#0x5");
  EXPECT_EQ(tree.nodes[1].total, 1u);
  EXPECT_EQ(tree.flattened, 1u);
}

TEST(WeightedTree, TellsWhatLivedInTheLastShot) {
  ScriptedSource source;
  source.thread({1, 1}).on(type_named(5, "Node")).on(type_named(6, "Array"));
  source.on(HeapShotEvent{10, true}).on(HeapObjectEvent{11, ObjectId{1}, TypeId{5}, 100, 0, {}});
  source.on(HeapShotEvent{12, false}).on(HeapShotEvent{20, true});
  source.on(HeapObjectEvent{21, ObjectId{1}, TypeId{5}, 16, 0, {}});
  source.on(HeapObjectEvent{21, ObjectId{2}, TypeId{5}, 16, 0, {}});
  source.on(HeapObjectEvent{21, ObjectId{3}, TypeId{6}, 40, 0, {}});
  source.on(HeapObjectEvent{21, ObjectId{3}, TypeId{6}, 0, 0, {}});  // further references
  source.on(HeapShotEvent{22, false});
  ProblemLog problems;
  WeightedStacks stacks =
      collect_weighted_stacks(source, StackMetric::allocations, {}, 1, problems);
  FrameNames names(source.functions());
  const std::vector<LiveType> live = last_live_types(stacks, source.streams(), names);
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(names.describe(live[0].frame).name, "Array");
  EXPECT_EQ(live[0].bytes, 40u);
  EXPECT_EQ(live[1].objects, 2u);
  EXPECT_EQ(live[1].bytes, 32u);
}

}  // namespace
}  // namespace telltale
