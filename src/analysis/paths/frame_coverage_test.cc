#include "analysis/paths/frame_coverage.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "support/simulated_function.h"

namespace telltale {
namespace {

using testing::SimulatedFunction;

// Crashes random functions at random places; each certain answer is compared with what ran.
TEST(FrameCoverage, AnswersHoldForRandomRuns) {
  std::mt19937_64 random(17);
  size_t yes = 0;
  size_t no = 0;
  size_t maybe = 0;
  for (int i = 0; i < 3000; ++i) {
    const SimulatedFunction function = SimulatedFunction::random(random, 14);
    const auto graph = function.graph();
    if (!graph) continue;
    const SimulatedFunction::Run run = function.run(random, random() % 120, 1 + random() % 6);
    const uint32_t stopped = run.trace.back();
    const PathHistory history = read_path_history(*graph, run.record, std::span(&stopped, 1));
    ASSERT_EQ(history.contradiction, "");
    std::vector<bool> truth(graph->blocks.size(), false);
    for (const uint32_t node : run.trace) truth[node] = true;
    const std::vector<Ran> answers = blocks_of_frame(*graph, history);
    for (uint32_t node = 0; node < answers.size(); ++node) {
      if (node == kExitNode) continue;
      maybe += answers[node] == Ran::maybe ? 1 : 0;
      if (answers[node] == Ran::maybe) {
        EXPECT_FALSE(history.complete);
        continue;
      }
      EXPECT_EQ(answers[node] == Ran::yes, truth[node]) << i << ' ' << node;
      ++(truth[node] ? yes : no);
    }
  }
  EXPECT_GT(yes, 5000U);
  EXPECT_GT(no, 2000U);
  EXPECT_GT(maybe, 500U);
}

PathHistory stopped_in(uint32_t node) {
  PathHistory history;
  history.readings.push_back({.partial = {node}});
  return history;
}

// Can `to` be reached from the entry without `avoided`?
bool leads_past(const PathGraph& graph, uint32_t avoided, uint32_t to) {
  std::vector<bool> reached(graph.blocks.size(), false);
  reached[kEntryNode] = avoided != kEntryNode;
  for (bool changes = true; changes;) {
    changes = false;
    for (const PathEdge& edge : graph.numbers.edges()) {
      if (!reached[edge.from] || reached[edge.to] || edge.to == avoided) continue;
      reached[edge.to] = changes = true;
    }
  }
  return reached[to];
}

TEST(FrameCoverage, BlocksOnEveryWayRanAndNoOthersAreCertain) {
  std::mt19937_64 random(5);
  size_t certain = 0;
  for (int i = 0; i < 300; ++i) {
    const auto graph = SimulatedFunction::random(random, 12).graph();
    if (!graph) continue;
    for (uint32_t stopped = 0; stopped < graph->blocks.size(); ++stopped) {
      if (!leads_past(*graph, kExitNode, stopped)) continue;
      const std::vector<Ran> answers = blocks_of_frame(*graph, stopped_in(stopped));
      for (uint32_t node = 0; node < answers.size(); ++node) {
        if (node == kExitNode) continue;
        EXPECT_EQ(answers[node] == Ran::yes, !leads_past(*graph, node, stopped))
            << i << ' ' << node;
        certain += answers[node] == Ran::yes ? 1 : 0;
      }
    }
  }
  EXPECT_GT(certain, 4000U);
}

// The work once grew with the square of the function's size, and was cut off.
TEST(FrameCoverage, LargeFunctionsAreAnsweredInFull) {
  constexpr uint32_t kBlocks = 10'000;
  std::vector<FlowBlock> blocks(kBlocks);
  for (uint32_t i = 0; i < kBlocks; ++i) {
    blocks[i].leaves = true;
    if (i + 1 < kBlocks) blocks[i].successors = {i + 1};
  }
  const auto graph = SimulatedFunction(blocks).graph();
  ASSERT_TRUE(graph);
  std::vector<std::vector<uint32_t>> after(graph->blocks.size());
  for (const PathEdge& edge : graph->numbers.edges()) after[edge.from].push_back(edge.to);
  std::vector<uint32_t> way{kEntryNode};  // breadth first, so that its last node is the furthest
  std::vector<bool> seen(graph->blocks.size(), false);
  seen[kExitNode] = true;
  for (size_t i = 0; i < way.size(); ++i) {
    for (const uint32_t next : after[way[i]]) {
      if (!seen[next]) way.push_back(next);
      seen[next] = true;
    }
  }
  const std::vector<Ran> answers = blocks_of_frame(*graph, stopped_in(way.back()));
  size_t ran = 0;
  for (const Ran answer : answers) ran += answer == Ran::yes ? 1 : 0;
  EXPECT_GE(ran, kBlocks - 1);
}

TEST(FrameCoverage, NothingIsCertainWithoutAReading) {
  std::vector<FlowBlock> blocks(2);
  blocks[0].successors = {1};
  blocks[1].leaves = true;
  const SimulatedFunction function(blocks);
  PathGraph graph = *function.graph();
  EXPECT_EQ(blocks_of_frame(graph, {}), std::vector<Ran>(graph.blocks.size(), Ran::maybe));
  PathHistory history;
  history.complete = true;
  history.readings.push_back({.partial = {kEntryNode}});
  EXPECT_EQ(blocks_of_frame(graph, history)[kEntryNode], Ran::yes);
  EXPECT_EQ(blocks_of_frame(graph, history)[2], Ran::no);
  graph.calls_setjmp = true;
  EXPECT_EQ(blocks_of_frame(graph, history)[2], Ran::maybe);
}

}  // namespace
}  // namespace telltale
