#include "analysis/paths/dominators.h"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <vector>

namespace telltale {
namespace {

TEST(Dominators, AJoinIsDominatedByWhatItsBranchesShare) {
  const BlockEdges edges = {{1}, {2, 3}, {4}, {4}, {}, {4}};
  EXPECT_EQ(immediate_dominators(edges, reversed(edges), 0),
            (std::vector<uint32_t>{0, 0, 1, 1, 1, kNoDominator}));
}

TEST(Dominators, TooManyStepsGiveNoAnswer) {
  const BlockEdges edges = {{1}, {2, 3}, {4}, {4}, {}};
  EXPECT_TRUE(immediate_dominators(edges, reversed(edges), 0, 1).empty());
}

// Without a dominator, a block is not reached; and of several, each dominates the one before.
TEST(Dominators, AreWhatEachWayPassesInRandomGraphs) {
  std::mt19937 engine(11);
  const auto random = [&](size_t below) { return static_cast<uint32_t>(engine() % below); };
  size_t found = 0;
  for (int graph = 0; graph < 500; ++graph) {
    const uint32_t count = 2 + random(9);
    BlockEdges edges(count);
    for (uint32_t edge = random(2 * count) + count / 2; edge-- > 0;)
      edges[random(count)].push_back(random(count));
    const uint32_t root = random(count);
    const std::vector<uint32_t> above = immediate_dominators(edges, reversed(edges), root);
    const auto reached_without = [&](uint32_t block) {
      std::vector<bool> possible(count, true);
      if (block < count) possible[block] = false;
      return reach_blocks(edges, possible, std::span(&root, 1));
    };
    const std::vector<bool> reached = reached_without(count);
    for (uint32_t block = 0; block < count; ++block) {
      ASSERT_EQ(above[block] != kNoDominator, reached[block]);
      if (!reached[block]) continue;
      std::vector<bool> dominates(count, false);
      for (uint32_t at = block; at != root; at = above[at]) dominates[at] = true;
      dominates[root] = true;
      for (uint32_t other = 0; other < count; ++other) {
        if (!reached[other]) continue;
        EXPECT_EQ(dominates[other], !reached_without(other)[block]) << graph << ' ' << block;
        if (dominates[other] && other != block) ++found;
      }
    }
  }
  EXPECT_GT(found, 1000U);
}

}  // namespace
}  // namespace telltale
