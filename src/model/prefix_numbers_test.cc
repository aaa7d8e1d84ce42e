#include "model/prefix_numbers.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace telltale {
namespace {

std::vector<FlowBlock> random_blocks(std::mt19937_64& random) {
  std::vector<FlowBlock> blocks(2 + random() % 15);
  for (FlowBlock& block : blocks) {
    for (std::size_t n = random() % 3; n-- > 0;) {
      block.successors.push_back(1 + static_cast<std::uint32_t>(random() % (blocks.size() - 1)));
      block.frequencies.push_back(random() % 100);
    }
    block.leaves = block.successors.empty();
  }
  return blocks;
}

TEST(PrefixNumbers, NameEachWayToABlockOnce) {
  std::mt19937_64 random(29);
  std::size_t ways = 0;
  for (int i = 0; i < 3'000; ++i) {
    constexpr std::uint64_t kMost = 20;
    const NumberedGraph graph =
        number_paths(random_blocks(random), {.numbers_prefixes = true, .most_prefixes = kMost});
    const std::vector<PathEdge> edges(graph.edges.begin(), graph.edges.end());
    const auto node_count = static_cast<std::uint32_t>(graph.nodes.size());
    const auto numbers = PrefixNumbers::from_edges(node_count, edges);
    ASSERT_TRUE(numbers);
    for (std::uint32_t node = 0; node < node_count; ++node) {
      if (node == kExitNode) continue;
      std::uint64_t number = 0;
      for (; const auto way = numbers->way(node, number); ++number, ++ways) {
        std::uint64_t sum = way->start == kFromEntry ? 0 : edges[way->start].increment;
        std::uint32_t at = way->start == kFromEntry ? kEntryNode : edges[way->start].to;
        for (const std::uint32_t index : way->edges) {
          ASSERT_EQ(edges[index].from, at);
          ASSERT_FALSE(edges[index].is_back);
          sum += edges[index].increment;
          at = edges[index].to;
        }
        ASSERT_EQ(at, node);
        ASSERT_EQ(sum, number);
      }
      ASSERT_GT(number, 0U);
      // A block can have more edges than ways are allowed.
      ASSERT_LE(number, kMost + graph.edges.size());
      ASSERT_FALSE(numbers->way(node, number + random() % 1'000));
    }
  }
  EXPECT_GT(ways, 20'000U);
}

// A branch with a join: 0 -> 1 or 2 -> 3.
TEST(PrefixNumbers, AddNothingOnTheMostFrequentEdge) {
  for (const std::uint64_t left : {1, 9}) {
    const std::vector<FlowBlock> blocks = {{.successors = {1, 2}, .frequencies = {left, 10 - left}},
                                           {.successors = {3}, .frequencies = {left}},
                                           {.successors = {3}, .frequencies = {10 - left}},
                                           {.successors = {}, .leaves = true}};
    const NumberedGraph graph = number_paths(blocks, {.numbers_prefixes = true});
    std::size_t with_increment = 0;
    for (const NumberedEdge& edge : graph.edges) {
      if (edge.increment == 0) continue;
      ++with_increment;
      EXPECT_EQ(graph.nodes[edge.from].block, left == 1 ? 1U : 2U);
    }
    EXPECT_EQ(with_increment, 1U);
  }
}

TEST(PrefixNumbers, RejectWhatNumbersNoWays) {
  const std::vector<PathEdge> good = {{0, 2, false, 0, 0},
                                      {0, 3, false, 0, 0},
                                      {2, 4, false, 0, 0},
                                      {3, 4, false, 1, 0},
                                      {4, 1, false, 0, 0}};
  EXPECT_TRUE(PrefixNumbers::from_edges(5, good));
  std::vector<PathEdge> bad = good;
  bad[3].increment = 0;  // ranges overlap
  EXPECT_FALSE(PrefixNumbers::from_edges(5, bad));
  bad = good;
  bad[4].to = 2;  // a cycle
  EXPECT_FALSE(PrefixNumbers::from_edges(5, bad));
  bad = good;
  bad[4].to = 5;
  EXPECT_FALSE(PrefixNumbers::from_edges(5, bad));
  bad = good;
  bad[3].increment = ~std::uint64_t{0};
  EXPECT_FALSE(PrefixNumbers::from_edges(5, bad));
  // A gap is allowed, and has no way.
  bad[3].increment = 5;
  const auto numbers = PrefixNumbers::from_edges(5, bad);
  ASSERT_TRUE(numbers);
  EXPECT_TRUE(numbers->way(4, 5));
  EXPECT_FALSE(numbers->way(4, 1));
  EXPECT_FALSE(numbers->way(7, 0));
}

}  // namespace
}  // namespace telltale
