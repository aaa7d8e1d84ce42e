#include "model/ball_larus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "model/path_numbers.h"

namespace telltale {
namespace {

// The numbers as `.debug_PT` prints them, with ids from 0.
std::string edges_text(const NumberedGraph& graph) {
  std::string out;
  for (const NumberedEdge& edge : graph.edges) {
    out += std::to_string(edge.from) + (edge.is_back ? "~>" : "->") + std::to_string(edge.to) +
           "|" + std::to_string(edge.increment) + "$" + std::to_string(edge.weight) + "\n";
  }
  return out;
}

std::vector<PathEdge> printed_edges(const NumberedGraph& graph) {
  std::vector<PathEdge> edges;
  for (const NumberedEdge& edge : graph.edges) {
    PathEdge printed = edge;
    printed.exit_increment = 0;
    printed.completes = false;
    edges.push_back(printed);
  }
  return edges;
}

PathNumbers numbers_of(const NumberedGraph& graph) {
  std::optional<PathNumbers> numbers =
      PathNumbers::from_edges(static_cast<std::uint32_t>(graph.nodes.size()), printed_edges(graph));
  EXPECT_TRUE(numbers.has_value()) << edges_text(graph);
  return std::move(numbers).value();
}

std::vector<std::uint32_t> nodes_of(const PathNumbers& numbers, const AcyclicPath& path) {
  std::vector<std::uint32_t> nodes{numbers.first_node(path.start)};
  for (const std::uint32_t index : path.edges) {
    const PathEdge& edge = numbers.edges()[index];
    if (!edge.is_back && edge.to != kExitNode) nodes.push_back(edge.to);
  }
  return nodes;
}

// The example of the manual: a loop around an if. Its main has the ids 2 to 9.
const std::vector<FlowBlock> kManualExample = {{{1}, false}, {{2, 5}, false}, {{3, 4}, false},
                                               {{6}, false}, {{6}, false},    {{}, true},
                                               {{1}, false}};

TEST(BallLarus, ThePublishedExampleHasThePublishedNumbers) {
  const NumberedGraph graph = number_paths(kManualExample);
  EXPECT_EQ(
      edges_text(graph),
      "0->2|0$0\n2->3|0$0\n2->4|2$2\n3->5|0$0\n3->6|1$1\n4->1|0$0\n5->7|0$0\n6->7|0$0\n7~>2|3$3\n");
  EXPECT_EQ(graph.path_count, 6U);
  EXPECT_EQ(graph.print_order, (std::vector<std::uint32_t>{1, 0, 2, 3, 4, 5, 6, 7}));
}

TEST(BallLarus, AFunctionWithoutBranchesHasOnePathAndStoresItInItsOnlyBlock) {
  const NumberedGraph graph = number_paths(std::vector<FlowBlock>{{{}, true}});
  ASSERT_EQ(edges_text(graph), "0->1|0$0\n");
  EXPECT_TRUE(graph.edges[0].completes);
  EXPECT_EQ(graph.edges[0].place, PathCodePlace::kEndOfSource);
}

TEST(BallLarus, TheStoreOfTheExampleIsAtTheStartOfTheLastBlock) {
  const NumberedGraph graph = number_paths(kManualExample);
  for (const NumberedEdge& edge : graph.edges) {
    EXPECT_EQ(edge.completes, edge.is_back || (edge.from == 2 && edge.to == 4));
    if (edge.completes && !edge.is_back) {
      EXPECT_EQ(edge.place, PathCodePlace::kStartOfTarget);
    }
  }
}

TEST(BallLarus, TheFirstIncrementMovesToTheEdgesAfterIt) {
  // The entry's second branch has the increment 1. Nothing else leads to its target, so the edges
  // that leave the target get it.
  const NumberedGraph graph = number_paths(std::vector<FlowBlock>{
      {{1, 2}, false}, {{3}, false}, {{3, 4}, false}, {{}, true}, {{3}, false}});
  EXPECT_EQ(edges_text(graph),
            "0->2|0$0\n0->3|0$1\n2->4|0$0\n3->6|1$0\n3->5|0$1\n4->1|0$0\n6->4|0$0\n5->4|2$0\n");
}

TEST(BallLarus, AConditionalBackEdgeIsSplit) {
  // do {} while (c);
  const NumberedGraph graph =
      number_paths(std::vector<FlowBlock>{{{1}, false}, {{1, 2}, false}, {{}, true}});
  EXPECT_EQ(edges_text(graph), "0->2|0$0\n2->4|0$0\n2->3|1$1\n4~>2|2$2\n3->1|0$0\n");
  ASSERT_EQ(graph.splits.size(), 1U);
  EXPECT_EQ(graph.splits[0].node, 4U);
  EXPECT_EQ(graph.splits[0].block, 1U);
  EXPECT_EQ(graph.splits[0].successor, 0U);
}

TEST(BallLarus, CasesWithOneTargetAreParallelEdges) {
  const NumberedGraph graph =
      number_paths(std::vector<FlowBlock>{{{1, 2, 2, 2}, false}, {{2}, false}, {{}, true}});
  EXPECT_EQ(graph.path_count, 4U);
  EXPECT_EQ(graph.splits.size(), 3U);
  EXPECT_EQ(graph.splits[2].successor, 3U);
}

TEST(BallLarus, TooManyPathsHaveACountAndNothingElse) {
  std::vector<FlowBlock> blocks;
  constexpr std::uint32_t kDiamonds = 70;
  for (std::uint32_t i = 0; i < kDiamonds; ++i) {
    blocks.push_back({{2 * i + 1, 2 * i + 2}, false});
    blocks.push_back({{2 * i + 2}, false});
  }
  blocks.push_back({{}, true});
  const NumberedGraph graph = number_paths(blocks);
  EXPECT_EQ(graph.path_count, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(graph.discovered, blocks.size() + 1);
  EXPECT_TRUE(graph.edges.empty());

  const NumberedGraph below = number_paths(kManualExample, {.most_paths = 6});
  EXPECT_FALSE(below.edges.empty());
  const NumberedGraph above = number_paths(kManualExample, {.most_paths = 5});
  EXPECT_TRUE(above.edges.empty());
  EXPECT_EQ(above.path_count, 6U);
}

TEST(BallLarus, TheEdgeThatIsLikelyHasNoIncrement) {
  // A switch in a loop, whose third case is likely.
  std::vector<FlowBlock> blocks = {
      {{1}, false}, {{2, 3, 4, 5}, false, 2}, {{1}, false}, {{1}, false}, {{1}, false}, {{}, true}};
  for (std::uint32_t likely = 0; likely < 4; ++likely) {
    blocks[1].likely = likely;
    const NumberedGraph graph = number_paths(blocks, {.stores_at_exit = false});
    for (const NumberedEdge& edge : graph.edges) {
      EXPECT_EQ(edge.completes, edge.is_back);
      if (edge.from != 2 || edge.is_back) continue;
      const bool is_likely = graph.nodes[edge.to].block == blocks[1].successors[likely];
      EXPECT_EQ(edge.increment == 0, is_likely) << edges_text(graph);
    }
  }
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_that_repeat(
    const std::vector<FlowBlock>& blocks) {
  const NumberedGraph graph =
      number_paths(blocks, {.stores_at_exit = false, .numbers_prefixes = true});
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const NumberedEdge& edge : graph.edges) {
    EXPECT_TRUE(edge.is_back || !edge.repeats);
    EXPECT_EQ(edge.completes, edge.is_back && !edge.repeats);
    if (edge.repeats) found.emplace_back(graph.nodes[edge.from].block, graph.nodes[edge.to].block);
  }
  return found;
}

TEST(BallLarus, OfEquallyFrequentEdgesTheOneThatMustBeSplitHasNoPrefixIncrement) {
  // 0 to 1 and 2, 1 to 2: the edge from 0 to 2 is critical.
  const auto increment_of_critical = [](std::uint64_t critical, std::uint64_t other) {
    const std::vector<FlowBlock> blocks = {
        {{1, 2}, false, 0, {other, critical}}, {{2}, false, 0, {other}}, {{}, true, 0, {}}};
    const NumberedGraph graph = number_paths(blocks, {.numbers_prefixes = true});
    std::vector<std::uint64_t> increments;
    for (const NumberedEdge& edge : graph.edges) {
      if (graph.nodes[edge.from].block != 1 && graph.nodes[edge.to].block == 2)
        increments.push_back(edge.increment);
    }
    EXPECT_EQ(increments.size(), 1U);
    return increments.front();
  };
  EXPECT_EQ(increment_of_critical(5, 5), 0U);
  EXPECT_EQ(increment_of_critical(5, 9), 0U);  // a jump costs as much as the increment
  EXPECT_EQ(increment_of_critical(5, 11), 1U);
}

TEST(BallLarus, OnlyLoopsWithASingleWayRepeat) {
  using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(edges_that_repeat({{{1}}, {{2, 3}}, {{1}}, {{}, true}}), (Edges{{2, 1}}));
  // Two ways; the block that they join is not the loop's first.
  EXPECT_EQ(edges_that_repeat({{{1}}, {{2, 3}}, {{4}}, {{4}}, {{5, 6}}, {{1}}, {{}, true}}),
            Edges{});
  // A block that always follows itself.
  EXPECT_EQ(edges_that_repeat({{{1, 2}}, {{1}}, {{}, true}}), Edges{});
}

TEST(BallLarus, OfLoopsOnOnePathTheMostFrequentRepeats) {
  using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  // Loops 1-2 and 3-4, one after the other, in a loop that goes back to 1 from 5.
  std::vector<FlowBlock> blocks = {{{1}}, {{2, 3}}, {{1}}, {{4, 5}}, {{3}}, {{1, 6}}, {{}, true}};
  const auto set = [&](std::uint64_t first, std::uint64_t second) {
    for (FlowBlock& block : blocks) block.frequencies.assign(block.successors.size(), 1);
    blocks[2].frequencies = {first};
    blocks[4].frequencies = {second};
    return edges_that_repeat(blocks);
  };
  EXPECT_EQ(set(9, 8), (Edges{{2, 1}}));
  EXPECT_EQ(set(8, 9), (Edges{{4, 3}}));
}

TEST(BallLarus, PathsAreCutWhereTooManyBegin) {
  std::vector<FlowBlock> blocks;
  for (std::uint32_t i = 0; i < 200; ++i) {
    blocks.push_back({{2 * i + 1, 2 * i + 2}, false});
    blocks.push_back({{2 * i + 2}, false});
  }
  blocks.push_back({{}, true});
  const NumberedGraph graph = number_paths(blocks, {.cut_above = 1U << 20U});
  EXPECT_LT(graph.path_count, 1U << 28U);
  const auto cuts = std::count_if(graph.edges.begin(), graph.edges.end(),
                                  [](const NumberedEdge& edge) { return edge.is_back; });
  EXPECT_GE(cuts, 10);
  EXPECT_LE(cuts, 40);
  EXPECT_EQ(numbers_of(graph).path_count(), graph.path_count);
}

TEST(BallLarus, TheFirstExampleOfTheVariablesPageDecodes) {
  const PathNumbers numbers = numbers_of(number_paths(kManualExample));
  using Nodes = std::vector<std::uint32_t>;
  // Nodes of the manual are these plus 2.
  EXPECT_EQ(nodes_of(numbers, *numbers.path(1)), (Nodes{0, 2, 3, 6, 7}));
  EXPECT_EQ(nodes_of(numbers, *numbers.path(3)), (Nodes{2, 3, 5, 7}));
  EXPECT_EQ(nodes_of(numbers, *numbers.path(5)), (Nodes{2, 4}));
  EXPECT_FALSE(numbers.path(6).has_value());
  const PathStart back = numbers.path(3)->start;
  const PathPrefixes partial = numbers.prefixes(back, 7, 4);
  ASSERT_EQ(partial.found.size(), 1U);
  EXPECT_EQ(nodes_of(numbers, partial.found[0]), (Nodes{2, 3, 6, 7}));
  EXPECT_TRUE(numbers.prefixes(kFromEntry, 7, 4).found.empty());
}

TEST(BallLarus, MetadataThatNoCompilerWritesIsRefused) {
  const std::vector<PathEdge> good = printed_edges(number_paths(kManualExample));
  const auto refused = [](std::vector<PathEdge> edges, std::uint32_t nodes = 8) {
    return !PathNumbers::from_edges(nodes, edges).has_value();
  };
  EXPECT_FALSE(refused(good));
  EXPECT_TRUE(refused(good, 7));
  EXPECT_TRUE(refused({}, 0));
  std::vector<PathEdge> cycle = good;
  cycle.back().is_back = false;
  EXPECT_TRUE(refused(cycle));
  std::vector<PathEdge> from_exit = good;
  from_exit[0].from = kExitNode;
  EXPECT_TRUE(refused(from_exit));
  std::vector<PathEdge> dead_end = good;
  std::erase_if(dead_end, [](const PathEdge& edge) { return edge.from == 5; });
  EXPECT_TRUE(refused(dead_end));
  std::vector<PathEdge> overlap = good;
  overlap.back().weight = 2;
  EXPECT_TRUE(refused(overlap));
}

TEST(BallLarus, TheSearchForAPrefixStopsAtItsLimits) {
  // 40 diamonds without increments: every way has the sum 0.
  std::vector<PathEdge> edges;
  std::uint32_t last = 0;
  std::uint32_t nodes = 2;
  for (int i = 0; i < 40; ++i) {
    const std::uint32_t left = nodes++;
    const std::uint32_t right = nodes++;
    const std::uint32_t join = nodes++;
    for (const std::uint32_t side : {left, right}) {
      edges.push_back({.from = last, .to = side});
      edges.push_back({.from = side, .to = join});
    }
    last = join;
  }
  edges.push_back({.from = last, .to = kExitNode});
  const std::optional<PathNumbers> numbers = PathNumbers::from_edges(nodes, edges);
  ASSERT_TRUE(numbers.has_value());
  EXPECT_EQ(numbers->prefixes(kFromEntry, last, 0, 3).found.size(), 3U);
  const PathPrefixes cut = numbers->prefixes(kFromEntry, last, 0, 1'000'000, 1000);
  EXPECT_FALSE(cut.is_complete);
  EXPECT_TRUE(numbers->prefixes(kFromEntry, last, 1).found.empty());
}

// A random graph with parallel edges and with loops: reducible, irreducible and infinite ones.
std::vector<FlowBlock> random_blocks(std::mt19937& random) {
  const auto pick = [&](std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(0, most)(random);
  };
  const std::uint32_t count = 1 + pick(11);
  std::vector<FlowBlock> blocks(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (count == 1 || pick(5) == 0) {
      blocks[i].leaves = true;
      continue;
    }
    const std::uint32_t successors = 1 + pick(pick(3) == 0 ? 3 : 1);
    // Nothing branches to the entry.
    for (std::uint32_t j = 0; j < successors; ++j)
      blocks[i].successors.push_back(1 + pick(count - 2));
    blocks[i].likely = pick(successors - 1);
  }
  return blocks;
}

// What the compiled code does with the sum and the ring, and the true history beside it.
class Activation {
 public:
  Activation(const NumberedGraph& graph, const PathNumbers& numbers)
      : graph_(graph), numbers_(numbers) {}

  // Takes an edge: an index of graph.edges.
  void take(std::uint32_t index) {
    const NumberedEdge& edge = graph_.edges[index];
    path_.edges.push_back(index);
    if (edge.is_back) {
      stored_.push_back(sum_ + edge.exit_increment);
      paths_.push_back(path_);
      sum_ = edge.increment;
      path_ = {index, {}};
    } else {
      sum_ += edge.increment;
      if (edge.completes) {
        stored_.push_back(sum_);
        sum_ = 0;
        in_tail_ = true;
      }
      if (edge.to == kExitNode) paths_.push_back(path_);
    }
    node_ = edge.to;
  }

  void expect_to_be_decoded() const {
    // The number of a path that is in its tail is stored although the path is not complete, or
    // that of the last path is not stored at all.
    const bool is_left = node_ == kExitNode;
    ASSERT_EQ(stored_.size() + (is_left && !in_tail_ ? 1 : 0),
              paths_.size() + (in_tail_ && !is_left ? 1 : 0));
    for (std::size_t i = 0; i < std::min(stored_.size(), paths_.size()); ++i) {
      const std::optional<AcyclicPath> decoded = numbers_.path(stored_[i]);
      ASSERT_TRUE(decoded.has_value());
      ASSERT_EQ(decoded->start, paths_[i].start);
      ASSERT_EQ(decoded->edges, paths_[i].edges);
      ASSERT_EQ(numbers_.number(*decoded), stored_[i]);
    }
    if (node_ == kExitNode) return;
    if (in_tail_) {
      const std::optional<AcyclicPath> decoded = numbers_.path(stored_.back());
      ASSERT_TRUE(decoded.has_value());
      ASSERT_EQ(decoded->start, path_.start);
      ASSERT_GE(decoded->edges.size(), path_.edges.size());
      ASSERT_TRUE(std::equal(path_.edges.begin(), path_.edges.end(), decoded->edges.begin()));
      return;
    }
    const PathPrefixes prefixes = numbers_.prefixes(path_.start, node_, sum_);
    ASSERT_EQ(prefixes.found.size(), 1U);
    ASSERT_EQ(prefixes.found[0].edges, path_.edges);
  }

  [[nodiscard]] std::uint32_t node() const { return node_; }

 private:
  const NumberedGraph& graph_;
  const PathNumbers& numbers_;
  std::uint32_t node_ = kEntryNode;
  std::uint64_t sum_ = 0;
  bool in_tail_ = false;
  std::vector<std::uint64_t> stored_;
  AcyclicPath path_;
  std::vector<AcyclicPath> paths_;
};

TEST(BallLarus, EveryNumberOfARandomGraphIsOnePathAndBack) {
  std::mt19937 random(20);
  for (int i = 0; i < 2000; ++i) {
    // Of every other graph many paths are cut.
    const NumberedGraph graph =
        number_paths(random_blocks(random),
                     {.cut_above = i % 2 == 0 ? kMostPaths : 4U, .stores_at_exit = i % 3 == 0});
    const PathNumbers numbers = numbers_of(graph);
    ASSERT_EQ(numbers.path_count(), graph.path_count);
    std::set<std::pair<PathStart, std::vector<std::uint32_t>>> seen;
    for (std::uint64_t number = 0; number < std::min<std::uint64_t>(graph.path_count, 500);
         ++number) {
      const std::optional<AcyclicPath> path = numbers.path(number);
      ASSERT_TRUE(path.has_value());
      ASSERT_EQ(numbers.number(*path), number);
      ASSERT_TRUE(seen.insert({path->start, path->edges}).second);
      std::uint32_t node = numbers.first_node(path->start);
      for (const std::uint32_t index : path->edges) {
        ASSERT_EQ(graph.edges[index].from, node);
        node = graph.edges[index].to;
      }
      ASSERT_TRUE(node == kExitNode || graph.edges[path->edges.back()].is_back);
    }
  }
}

TEST(BallLarus, AStopAnywhereInARandomRunIsDecodedToWhatRan) {
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) {
    // Of every other graph many paths are cut.
    const NumberedGraph graph =
        number_paths(random_blocks(random),
                     {.cut_above = i % 2 == 0 ? kMostPaths : 4U, .stores_at_exit = i % 3 == 0});
    const PathNumbers numbers = numbers_of(graph);
    Activation activation(graph, numbers);
    for (int step = 0; step < 40 && activation.node() != kExitNode; ++step) {
      activation.expect_to_be_decoded();
      if (HasFatalFailure())
        FAIL() << "graph " << i << " step " << step << "\n" << edges_text(graph);
      std::vector<std::uint32_t> out;
      for (std::uint32_t index = 0; index < graph.edges.size(); ++index) {
        if (graph.edges[index].from == activation.node()) out.push_back(index);
      }
      ASSERT_FALSE(out.empty());
      activation.take(out[std::uniform_int_distribution<std::size_t>(0, out.size() - 1)(random)]);
    }
    activation.expect_to_be_decoded();
    if (HasFatalFailure()) FAIL() << edges_text(graph);
  }
}

TEST(BallLarus, CodeOfAnEdgeRunsOnThatEdgeAlone) {
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    const NumberedGraph graph = number_paths(random_blocks(random), {.cut_above = 8});
    for (const NumberedEdge& edge : graph.edges) {
      const auto shares = [&](const NumberedEdge& other) {
        return edge.place == PathCodePlace::kEndOfSource ? other.from == edge.from
                                                         : other.to == edge.to;
      };
      ASSERT_EQ(std::count_if(graph.edges.begin(), graph.edges.end(), shares), 1)
          << edges_text(graph);
    }
  }
}

}  // namespace
}  // namespace telltale
