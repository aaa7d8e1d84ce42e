#include "analysis/heap/heap_retention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;
using Reference = HeapObjectEvent::Reference;
using Root = HeapRootsEvent::Root;

struct Node {
  uint64_t type = 0;
  uint64_t bytes = 0;
  std::vector<uint64_t> to;  // indices
};

ObjectId object(uint64_t index) { return ObjectId{0x1000 + 8 * index}; }

// A heap shot with these objects; types are named after their numbers.
ScriptedSource shot_of(const std::vector<Node>& nodes, const std::vector<Root>& roots) {
  ScriptedSource source;
  source.thread({1, 1}, "main");
  source.on(PieceEvent{.offset = 1, .stream = 0, .thread = 1});
  source.on(HeapShotEvent{5, true}).on(HeapRootsEvent{5, source.kept(roots)});
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<Reference> references;
    for (const uint64_t to : nodes[i].to) references.push_back({8, object(to)});
    source.on(HeapObjectEvent{6, object(i), TypeId{nodes[i].type}, nodes[i].bytes, 0,
                              source.kept(std::move(references))});
  }
  return std::move(source.on(HeapShotEvent{7, false}));
}

std::optional<HeapGraph> graph_of(const ScriptedSource& source, const CallFilter& filter = {}) {
  ProblemLog problems;
  std::vector<HeapGraph> graphs = last_heap_graphs(source, filter, 2, problems);
  return graphs.empty() ? std::nullopt : std::optional(std::move(graphs.front()));
}

std::string text(const std::vector<FunctionId>& chain, const FrameNames& names) {
  std::string out;
  for (const FunctionId frame : chain) out += (out.empty() ? "" : " ") + names.describe(frame).name;
  return out;
}

TEST(HeapRetention, TellsAShortestChainOfEachType) {
  // root -> 0 (a) -> 1 (b) -> 3 (d); root -> 2 (c) -> 3; 4 (e) is garbage; 5 (a) weakly held.
  const ScriptedSource source =
      shot_of({{1, 10, {1}}, {2, 20, {3}}, {3, 30, {3, 0}}, {4, 40, {}}, {5, 50, {0}}, {1, 60, {}}},
              {{.object = object(0), .kind = HeapRootsEvent::Kind::stack},
               {.object = object(2), .kind = HeapRootsEvent::Kind::handle},
               {.object = object(5), .weak = true},
               {.object = object(77)}});
  const auto graph = graph_of(source);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->dangling, 1u);
  FrameNames names(source.functions());
  const HeapRetention retention = explain_heap(*graph, 100, names);
  ASSERT_EQ(retention.types.size(), 5u);
  std::map<std::string, std::string> chains;
  for (const HeapRetention::Type& type : retention.types)
    chains[names.describe(type.frame).name] = text(type.chain, names);
  EXPECT_EQ(chains["#0x1"], "[stack] #0x1");
  EXPECT_EQ(chains["#0x2"], "[stack] #0x1 #0x2");
  EXPECT_EQ(chains["#0x3"], "[GC handles] #0x3");
  EXPECT_EQ(chains["#0x4"], "[GC handles] #0x3 #0x4");
  EXPECT_EQ(chains["#0x5"], "");
  EXPECT_EQ(retention.unreached.objects, 2u);
  EXPECT_EQ(retention.unreached.bytes, 110u);
  EXPECT_EQ(names.describe(retention.types.front().frame).name, "#0x1");  // 70 bytes
  EXPECT_EQ(retention.types.front().unreached.bytes, 60u);
}

TEST(HeapRetention, PutsAListOfOneTypeIntoOneFrame) {
  std::vector<Node> nodes = {{1, 8, {1}}};
  for (uint64_t i = 1; i < 5000; ++i) nodes.push_back({2, 16, {i + 1}});
  nodes.push_back({3, 24, {}});
  const ScriptedSource source = shot_of(nodes, {{.object = object(0)}});
  FrameNames names(source.functions());
  const HeapRetention retention = explain_heap(*graph_of(source), 10, names);
  EXPECT_EQ(retention.chains.size(), 5u);  // the empty one, the root, three types
  EXPECT_EQ(retention.cut, 0u);
  const auto last =
      std::ranges::find(retention.types, 24u, [](const auto& t) { return t.all.bytes; });
  ASSERT_NE(last, retention.types.end());
  EXPECT_EQ(text(last->chain, names), "[unknown root] #0x1 #0x2 #0x3");
  EXPECT_EQ(last->length, 5000u);
}

// All distances by relaxing every edge until nothing changes; then the properties of every chain.
TEST(HeapRetention, FindsWhatRelaxationFindsInRandomGraphs) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::vector<Node> nodes(random() % 40 + 1);
    for (Node& node : nodes) {
      node = {random() % 6 + 1, random() % 100, {}};
      for (unsigned i = 0; i < random() % 4; ++i) node.to.push_back(random() % nodes.size());
      if (node.bytes == 0) node.bytes = 1;
    }
    std::vector<Root> roots;
    std::set<size_t> held;
    for (unsigned i = 0; i < random() % 3; ++i) {
      held.insert(random() % nodes.size());
      roots.push_back({.object = object(*held.rbegin())});
      held.insert(to_number(roots.back().object) / 8 - 0x1000 / 8);
    }
    std::vector<uint64_t> distance(nodes.size(), 1'000'000);
    for (const Root& root : roots) distance[to_number(root.object) / 8 - 0x200] = 0;
    for (size_t round = 0; round < nodes.size(); ++round)
      for (size_t i = 0; i < nodes.size(); ++i)
        for (const uint64_t to : nodes[i].to)
          distance[to] = std::min(distance[to], distance[i] + 1);

    const ScriptedSource source = shot_of(nodes, roots);
    const auto graph = graph_of(source);
    ASSERT_TRUE(graph);
    FrameNames names(source.functions());
    const HeapRetention retention = explain_heap(*graph, 1000, names);
    uint64_t unreached = 0;
    std::map<uint64_t, uint64_t> bytes;
    for (size_t i = 0; i < nodes.size(); ++i) {
      bytes[nodes[i].type] += nodes[i].bytes;
      if (distance[i] >= 1'000'000) unreached += nodes[i].bytes;
    }
    EXPECT_EQ(retention.unreached.bytes, unreached) << seed;
    uint64_t in_chains = 0;
    for (const HeapRetention::Sum& sum : retention.sums) in_chains += sum.bytes;
    uint64_t all = 0;
    for (const auto& [type, sum] : bytes) all += sum;
    EXPECT_EQ(in_chains, all);
    for (const HeapRetention::Type& type : retention.types) {
      const std::string name = names.describe(type.frame).name;
      const uint64_t number = std::stoull(name.substr(3), nullptr, 16);
      EXPECT_EQ(type.all.bytes, bytes[number]);
      if (type.chain.empty()) continue;
      // Some object of the type has exactly that distance from a root.
      bool found = false;
      for (size_t i = 0; i < nodes.size(); ++i)
        found |= nodes[i].type == number && distance[i] == type.length;
      EXPECT_TRUE(found) << seed << " " << name;
      EXPECT_LE(type.chain.size(), type.length + 2);
    }
    const CallTree tree = retention_tree(retention, WeightOf::value, 1000).finish(source.streams());
    EXPECT_EQ(tree.roots.size(), 1u);
    EXPECT_EQ(tree.nodes[0].total, all);
  }
}

TEST(HeapGraph, NamesRootsByWhereTheyLie) {
  using Source = HeapRootAreaEvent::Source;
  ScriptedSource source;
  source.thread({1, 0x77}, "Worker");
  source.on(PieceEvent{.offset = 1, .stream = 0, .thread = 0x77});
  source.on(LoadEvent{.kind = LoadEvent::Kind::type,
                      .action = LoadEvent::Action::loaded,
                      .id = 9,
                      .has_name = true,
                      .name = "Cache",
                      .mvid = {}});
  source.on(LoadEvent{.kind = LoadEvent::Kind::type_in_domain,
                      .action = LoadEvent::Action::loaded,
                      .id = 90,
                      .type = 9,
                      .name = {},
                      .mvid = {}});
  source.on(HeapRootAreaEvent{1, true, 0x100, 16, Source::stack, 0x77, ""});
  source.on(HeapRootAreaEvent{1, true, 0x200, 16, Source::external, 0, "taken back"});
  source.on(HeapRootAreaEvent{2, false, 0x200, 0, Source::external, 0, ""});
  source.on(HeapRootAreaEvent{3, true, 0x300, 64, Source::statics, 90, ""});
  source.on(HeapRootAreaEvent{3, true, 1, 1, Source::finalizer_queue, 0, "Finalizer Queue"});
  source.on(HeapRootAreaEvent{3, true, 0x400, 8, static_cast<Source>(200), 0, ""});
  source.on(HeapShotEvent{5, true});
  source.on(HeapRootsEvent{5, source.kept<Root>({{.object = object(0), .address = 0x10F},
                                                 {.object = object(0), .address = 0x110},
                                                 {.object = object(0), .address = 0x200},
                                                 {.object = object(0), .address = 0x338},
                                                 {.object = object(0), .address = 1},
                                                 {.object = object(0), .address = 0x404}})});
  source.on(HeapObjectEvent{6, object(0), TypeId{90}, 8, 0, {}}).on(HeapShotEvent{7, false});
  const auto graph = graph_of(source);
  ASSERT_TRUE(graph);
  std::vector<std::string> names;
  for (const HeapGraph::Root& root : graph->roots) names.push_back(root.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"stack of thread Worker", "unregistered place",
                                      "unregistered place", "static fields of Cache",
                                      "finalizer queue (Finalizer Queue)", "roots of kind 200"}));
  EXPECT_EQ(graph->types.name_or_address(90), "Cache");
  CallFilter before;
  before.to_ns = 5;
  EXPECT_FALSE(graph_of(source, before));
}

LoadEvent profiler_thread(Ticks time, LoadEvent::Action action, std::string_view name = {}) {
  return {.time = time,
          .kind = LoadEvent::Kind::thread,
          .action = action,
          .has_name = !name.empty(),
          .name = name,
          .mvid = {}};
}

// A shot in a separate piece, at `time`, with that many objects.
void add_shot(ScriptedSource& source, Ticks time, uint64_t objects, bool ends = true) {
  source.on(PieceEvent{.offset = time, .stream = 0, .thread = 1});
  source.on(HeapShotEvent{time, true});
  for (uint64_t i = 0; i < objects; ++i)
    source.on(HeapObjectEvent{time, object(i), TypeId{1}, 8, 0, {}});
  if (ends) source.on(HeapShotEvent{time + 1, false});
}

TEST(HeapGraph, IsOfTheLastWholeShotOfTheRunningProgram) {
  using Why = HeapShotLeftOut::Why;
  ScriptedSource source;
  source.thread({1, 1});
  add_shot(source, 10, 1);
  add_shot(source, 20, 2);
  add_shot(source, 30, 3, /*ends=*/false);
  source.shard();  // an unfinished one, and then one at exit, in another shard
  add_shot(source, 40, 4);
  source.thread({1, 2}).on(PieceEvent{.offset = 90, .stream = 1, .thread = 2});
  source.on(profiler_thread(1, LoadEvent::Action::named, "Profiler Sampler"));
  source.on(profiler_thread(40, LoadEvent::Action::unloaded));
  ProblemLog problems;
  std::vector<HeapShotLeftOut> left_out;
  auto graphs = last_heap_graphs(source, {}, 2, problems, &left_out);
  ASSERT_EQ(graphs.size(), 1u);
  EXPECT_EQ(graphs[0].begin, 20u);
  EXPECT_EQ(graphs[0].number, 1u);
  EXPECT_EQ(graphs[0].objects.size(), 2u);
  ASSERT_EQ(left_out.size(), 2u);
  EXPECT_EQ(left_out[0].number, 2u);
  EXPECT_EQ(left_out[0].why, Why::unfinished);
  EXPECT_EQ(left_out[1].begin, 40u);
  EXPECT_EQ(left_out[1].why, Why::at_exit);
  // Without any other, the shot at exit is used.
  CallFilter late;
  late.from_ns = 25;
  graphs = last_heap_graphs(source, late, 2, problems, &left_out);
  ASSERT_EQ(graphs.size(), 1u);
  EXPECT_EQ(graphs[0].objects.size(), 4u);
  EXPECT_TRUE(left_out.empty());
  // Unfinished shots are never used.
  late.to_ns = 40;
  EXPECT_TRUE(last_heap_graphs(source, late, 2, problems, &left_out).empty());
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].number, 2u);
}

TEST(HeapGraph, TakesRootsThatStandBeforeTheShotOfOldRecordings) {
  ScriptedSource source;
  source.thread({1, 1});
  source.on(HeapRootsEvent{
      4, source.kept<Root>({{.object = object(0), .kind = HeapRootsEvent::Kind::stack}})});
  source.on(HeapShotEvent{5, true}).on(HeapObjectEvent{6, object(0), TypeId{1}, 8, 0, {}});
  source.on(HeapShotEvent{7, false});
  ASSERT_EQ(graph_of(source)->roots.size(), 1u);
  EXPECT_EQ(graph_of(source)->roots[0].name, "stack");
}

}  // namespace
}  // namespace telltale
