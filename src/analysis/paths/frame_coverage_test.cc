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
