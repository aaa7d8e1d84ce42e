#include "analysis/paths/control_dependence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace telltale {
namespace {

using Edges = std::vector<ControlEdge>;

bool has(const Edges& edges, ControlEdge edge) {
  return std::ranges::find(edges, edge) != edges.end();
}

TEST(ControlDependence, OfBranches) {
  // 0 chooses 1 or 2, which join in 3.
  const auto of = control_dependences({{1, 2}, {3}, {3}, {}});
  EXPECT_EQ(of[0], Edges());
  EXPECT_EQ(of[1], (Edges{{0, 1}}));
  EXPECT_EQ(of[2], (Edges{{0, 2}}));
  EXPECT_EQ(of[3], Edges());
}

TEST(ControlDependence, OfALoop) {
  // 1 is the condition, 2 the body.
  const auto of = control_dependences({{1}, {2, 3}, {1}, {}});
  EXPECT_EQ(of[1], (Edges{{1, 2}}));
  EXPECT_EQ(of[2], (Edges{{1, 2}}));
  EXPECT_EQ(of[3], Edges());
}

TEST(ControlDependence, OfAnEarlyReturn) {
  const auto of = control_dependences({{1, 2}, {}, {3}, {}});
  EXPECT_EQ(of[2], (Edges{{0, 2}}));
  EXPECT_EQ(of[3], (Edges{{0, 2}}));
}

TEST(ControlDependence, OfLoopsWithoutAnExit) {
  // 1 and 2 are an endless loop, in which 2 chooses.
  const auto of = control_dependences({{1, 4}, {2}, {1, 3}, {1}, {}});
  EXPECT_EQ(of[4], (Edges{{0, 4}}));
  EXPECT_TRUE(has(of[1], {0, 1}));
  EXPECT_TRUE(has(of[3], {2, 3}));
  EXPECT_EQ(control_dependences({{0}}).size(), 1U);
  EXPECT_TRUE(control_dependences({}).empty());
}

TEST(ControlDependence, StopsAtTheLimit) {
  EXPECT_TRUE(control_dependences({{1, 2}, {3}, {3}, {}}, 1).empty());
}

// By the definition, with all ways to the ends: `over` post-dominates `block`.
bool post_dominates(const BlockEdges& edges, uint32_t over, uint32_t block) {
  if (over == block) return true;
  std::vector<bool> possible(edges.size(), true);
  possible[over] = false;
  const auto reached = reach_blocks(edges, possible, std::span(&block, 1));
  for (uint32_t end = 0; end < edges.size(); ++end)
    if (reached[end] && edges[end].empty()) return false;
  return true;
}

TEST(ControlDependence, IsWhatTheDefinitionSays) {
  std::mt19937 random(7);
  size_t compared = 0;
  for (int round = 0; round < 4000; ++round) {
    const size_t count = 2 + random() % 8;
    BlockEdges edges(count);
    for (size_t block = 0; block + 1 < count; ++block) {
      const size_t successors = random() % 8 == 0 ? 0 : 1 + random() % 3;
      for (size_t i = 0; i < successors; ++i)
        edges[block].push_back(static_cast<uint32_t>(random() % count));
    }
    std::vector<uint32_t> ends;
    for (uint32_t block = 0; block < count; ++block)
      if (edges[block].empty()) ends.push_back(block);
    const auto reaches = reach_blocks(reversed(edges), std::vector<bool>(count, true), ends);
    if (std::ranges::find(reaches, false) != reaches.end()) continue;
    const auto of = control_dependences(edges);
    for (uint32_t block = 0; block < count; ++block) {
      std::set<std::pair<uint32_t, uint32_t>> expected;
      for (uint32_t from = 0; from < count; ++from) {
        for (const uint32_t to : edges[from]) {
          const bool is_certain_before = from != block && post_dominates(edges, block, from);
          if (post_dominates(edges, block, to) && !is_certain_before && edges[from].size() > 1)
            expected.insert({from, to});
        }
      }
      // A block with the same successor several times decides nothing.
      std::erase_if(expected, [&](const auto& edge) {
        return std::set(edges[edge.first].begin(), edges[edge.first].end()).size() == 1 &&
               edge.first != block;
      });
      std::set<std::pair<uint32_t, uint32_t>> found;
      for (const ControlEdge& edge : of[block]) found.insert({edge.from, edge.to});
      std::erase_if(found, [&](const auto& edge) {
        return std::set(edges[edge.first].begin(), edges[edge.first].end()).size() == 1 &&
               edge.first != block;
      });
      EXPECT_EQ(found, expected) << "round " << round << ", block " << block;
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000U);
}

}  // namespace
}  // namespace telltale
