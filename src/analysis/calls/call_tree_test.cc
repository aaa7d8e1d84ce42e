#include "analysis/calls/call_tree.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;

std::string describe(const CallTree& tree) {
  std::string text;
  for (const CallTree::Node& node : tree.nodes) {
    if (node.depth == 0) {
      text += "root";
    } else {
      text += std::string(2 * node.depth, ' ') + std::to_string(to_number(node.function)) + " x" +
              std::to_string(node.calls);
    }
    text += " total " + std::to_string(node.total) + " self " + std::to_string(node.self) + "\n";
  }
  return text;
}

CallTree build(const ScriptedSource& source, const CallTreeOptions& options = {},
               size_t workers = 1) {
  ProblemLog problems;
  Result<CallTree> tree = build_call_tree(source, CallFilter(), workers, options, problems);
  EXPECT_TRUE(tree.has_value());
  return tree ? std::move(*tree) : CallTree();
}

TEST(CallTree, CallsOfTheSamePathAreOneNode) {
  ScriptedSource source;
  source.thread({1, 7});
  source.enter(0, 1)
      .enter(10, 2)
      .leave(15, 2)
      .enter(20, 2)
      .enter(21, 3)
      .leave(29, 3)
      .leave(30, 2)
      .leave(100, 1);
  source.enter(200, 2).leave(203, 2);
  EXPECT_EQ(describe(build(source)),
            "root total 103 self 0\n"
            "  1 x1 total 100 self 85\n"
            "    2 x2 total 15 self 7\n"
            "      3 x1 total 8 self 8\n"
            "  2 x1 total 3 self 3\n");
}

TEST(CallTree, KnowsWhereSubtreesEnd) {
  ScriptedSource source;
  source.thread({1, 7}).enter(0, 1).enter(1, 2).leave(2, 2).leave(3, 1).enter(4, 5).leave(5, 5);
  const CallTree tree = build(source);
  ASSERT_EQ(tree.nodes.size(), 4u);
  EXPECT_EQ(tree.nodes[0].end, 4u);
  EXPECT_EQ(tree.nodes[1].end, 3u);
  EXPECT_EQ(tree.nodes[2].end, 3u);
  EXPECT_EQ(tree.nodes[2].parent, 1u);
  EXPECT_EQ(tree.nodes[3].parent, 0u);
}

TEST(CallTree, ThreadsHaveRootsOfTheirOwnWhenAsked) {
  ScriptedSource source;
  source.thread({1, 7}, "main").enter(0, 1).leave(10, 1);
  source.thread({1, 8}, "idle");
  source.thread({1, 9}, "work").enter(0, 1).leave(5, 1);
  const CallTree apart = build(source, {.by_thread = true});
  EXPECT_EQ(describe(apart),
            "root total 10 self 0\n  1 x1 total 10 self 10\nroot total 5 self 0\n  1 x1 total 5 "
            "self 5\n");
  ASSERT_EQ(apart.roots.size(), 2u);
  EXPECT_EQ(apart.roots[0].thread_name, "main");
  EXPECT_EQ(apart.roots[1].thread.tid, 9);
  EXPECT_EQ(apart.roots[1].node, 2u);
  EXPECT_EQ(describe(build(source)), "root total 15 self 0\n  1 x2 total 15 self 15\n");
}

TEST(CallTree, CallsCrossShards) {
  ScriptedSource source;
  source.thread({1, 7})
      .enter(0, 1)
      .enter(1, 2)
      .shard()
      .enter(2, 3)
      .shard()
      .leave(5, 3)
      .leave(7, 2)
      .shard()
      .leave(20, 1);
  EXPECT_EQ(describe(build(source)),
            "root total 20 self 0\n"
            "  1 x1 total 20 self 14\n"
            "    2 x1 total 6 self 3\n"
            "      3 x1 total 3 self 3\n");
}

TEST(CallTree, CountsUnwoundUnfinishedAndOrphans) {
  ScriptedSource source;
  source.thread({1, 7}).leave(0, 9).enter(1, 1).enter(2, 2).leave(5, 1).enter(6, 3).enter(8, 4);
  const CallTree tree = build(source);
  EXPECT_EQ(tree.calls, 4u);
  EXPECT_EQ(tree.orphan_exits, 1u);
  EXPECT_EQ(tree.unwound, 1u);
  EXPECT_EQ(tree.unfinished, 2u);
}

TEST(CallTree, AnEmptyRecordingHasNoRoots) {
  ScriptedSource source;
  EXPECT_TRUE(build(source).nodes.empty());
  source.thread({1, 7});
  EXPECT_TRUE(build(source).nodes.empty());
  EXPECT_TRUE(build(source, {.by_thread = true}).roots.empty());
}

TEST(CallTree, BelowTheDepthLimitCallsAndSelfTimesStayExact) {
  for (const bool cut : {false, true}) {
    ScriptedSource source;
    source.thread({1, 7}).enter(0, 1).enter(1, 2).enter(3, 3);
    if (cut) source.shard();
    source.enter(6, 2).enter(10, 4);
    if (cut) source.shard();
    source.leave(15, 4).leave(21, 2).leave(28, 3).enter(30, 4).leave(31, 4).leave(36, 2).leave(45,
                                                                                               1);
    const CallTree tree = build(source, {.by_thread = false, .max_depth = 2});
    EXPECT_EQ(describe(tree),
              "root total 45 self 0\n"
              "  1 x1 total 45 self 10\n"
              "    2 x1 total 35 self 9\n"
              "      2 x1 total 10 self 10\n"
              "      3 x1 total 10 self 10\n"
              "      4 x2 total 6 self 6\n");
    EXPECT_EQ(tree.flattened, 4u);
  }
}

// A random recording with exceptions, orphans and unfinished calls, divided into many shards.
ScriptedSource random_recording(unsigned seed) {
  std::mt19937 random(seed);
  ScriptedSource source;
  for (int64_t tid = 1; tid <= 3; ++tid) {
    source.thread({1, tid});
    Ticks now = random() % 50;
    std::vector<uint32_t> open;
    for (int i = 0; i < 400; ++i) {
      now += random() % 20;
      if (random() % 23 == 0) source.shard();
      const auto function = static_cast<uint32_t>(1 + random() % 5);
      if (random() % 2 == 0) {
        source.enter(now, function);
        open.push_back(function);
      } else if (!open.empty() && random() % 8 != 0) {
        source.leave(now, open.back());
        open.pop_back();
      } else {
        source.leave(now, function);
        std::erase(open, function);  // roughly: leftovers are intentionally odd
      }
    }
  }
  return source;
}

// Keeps every call, and sums by path name: a slow, plain reference.
struct PlainSink : IgnoreCalls {
  std::map<std::string, std::pair<uint64_t, Ticks>>* sums;
  std::vector<std::pair<std::string, Ticks>> open_calls;
  explicit PlainSink(std::map<std::string, std::pair<uint64_t, Ticks>>& out,
                     const ShardContext& context)
      : sums(&out) {
    for (const OpenCall& call : context.open_calls) open(call.entered, call.function);
  }
  void open(Ticks time, FunctionId function) {
    const std::string path = (open_calls.empty() ? "" : open_calls.back().first) + "/" +
                             std::to_string(to_number(function));
    open_calls.emplace_back(path, time);
  }
  void close(Ticks time, FunctionId, CloseKind) {
    auto& [calls, total] = (*sums)[open_calls.back().first];
    calls += 1;
    total += time - open_calls.back().second;
    open_calls.pop_back();
  }
};

TEST(CallTree, EqualsASlowComputationForAnyNumberOfWorkers) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const ScriptedSource source = random_recording(seed);
    std::map<std::string, std::pair<uint64_t, Ticks>> expected;
    ProblemLog problems;
    ASSERT_TRUE(play_calls(
                    source, CallFilter(), 1,
                    [&](const ShardContext& context) { return PlainSink(expected, context); },
                    [](const ShardContext&, PlainSink&) { return Result<void>(); }, problems)
                    .has_value());
    std::map<std::string, std::pair<uint64_t, Ticks>> got;
    const CallTree tree = build(source);
    std::vector<std::string> paths(tree.nodes.size());
    for (size_t i = 1; i < tree.nodes.size(); ++i) {
      const CallTree::Node& node = tree.nodes[i];
      paths[i] = paths[node.parent] + "/" + std::to_string(to_number(node.function));
      got[paths[i]] = {node.calls, node.total};
    }
    EXPECT_EQ(got, expected);
    EXPECT_EQ(describe(build(source, {}, 2)), describe(tree));
    EXPECT_EQ(describe(build(source, {}, 8)), describe(tree));
    EXPECT_EQ(describe(build(source, {true, 3}, 8)), describe(build(source, {true, 3}, 1)));
  }
}

TEST(CallTree, TenMillionNestedCallsNeedNoStack) {
  constexpr uint32_t kDepth = 10'000'000;
  uint64_t flattened = 0;
  uint64_t calls = 0;
  const auto work = [&] {
    CallTreePartial partial;
    CallTreeSink sink(partial, ShardContext{});
    for (uint32_t i = 0; i < kDepth; ++i) sink.open(i, FunctionId{i % 3});
    for (uint32_t i = kDepth; i > 0; --i)
      sink.close(kDepth, FunctionId{(i - 1) % 3}, CloseKind::returned);
    const CallTree tree = partial.finish({});
    flattened = tree.flattened;
    calls = tree.calls;
    EXPECT_EQ(tree.nodes.size(), 1u + 1000 + 3);
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread{};
  using Work = decltype(work);
  const auto run = [](void* argument) -> void* {
    (*static_cast<Work*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(
      pthread_create(&thread, &attributes, run, const_cast<void*>(static_cast<const void*>(&work))),
      0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(calls, kDepth);
  EXPECT_EQ(flattened, kDepth - 1000);
}

}  // namespace
}  // namespace telltale
