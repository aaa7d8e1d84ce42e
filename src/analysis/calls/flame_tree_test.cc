#include "analysis/calls/flame_tree.h"

#include <gtest/gtest.h>

#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;

// 1 (1000 ticks) calls 2 (10), then 3 (900), which calls 4 (1).
CallTree sample() {
  ScriptedSource source;
  source.thread({1, 7}).enter(0, 1).enter(10, 2).leave(20, 2).enter(50, 3);
  source.enter(60, 4).leave(61, 4).leave(950, 3).leave(1000, 1);
  ProblemLog problems;
  return *build_call_tree(source, CallFilter(), 1, {}, problems);
}

TEST(FlameTree, PutsTheWidestCalleeFirst) {
  const CallTree tree = sample();
  const FlameTree flame = make_flame_tree(tree, tree.roots[0], {.min_share = 0});
  ASSERT_EQ(flame.nodes.size(), 5u);
  EXPECT_EQ(to_number(flame.nodes[2].function), 3u);
  EXPECT_EQ(to_number(flame.nodes[3].function), 4u);
  EXPECT_EQ(to_number(flame.nodes[4].function), 2u);
  EXPECT_EQ(flame.nodes[0].calls_inside, 4u);
  EXPECT_EQ(flame.nodes[2].calls_inside, 2u);
  EXPECT_EQ(flame.pruned_nodes, 0u);
}

TEST(FlameTree, KeepsWhatHasMuchOfTheTimeOrOfTheCalls) {
  const CallTree tree = sample();
  // A quarter of the calls each: 2 and 4 stay at 20 %, and are pruned at 30 %.
  EXPECT_EQ(make_flame_tree(tree, tree.roots[0], {.min_share = 0.2}).nodes.size(), 5u);
  const FlameTree flame = make_flame_tree(tree, tree.roots[0], {.min_share = 0.3});
  EXPECT_EQ(flame.nodes.size(), 3u);
  EXPECT_EQ(flame.pruned_nodes, 2u);
  EXPECT_EQ(flame.pruned_self, 11u);
  EXPECT_DOUBLE_EQ(flame.widest_pruned, 0.25);
}

TEST(FlameTree, IsNotEmptyBecauseAllIsNarrow) {
  ScriptedSource source;
  source.thread({1, 7}).enter(0, 1);
  for (uint32_t i = 0; i < 100; ++i) source.enter(10 + 9 * i, 2 + i).leave(19 + 9 * i, 2 + i);
  source.leave(1000, 1);
  ProblemLog problems;
  const CallTree tree = *build_call_tree(source, CallFilter(), 1, {}, problems);
  const auto nodes = [&](const FlameLimits& limits) {
    return make_flame_tree(tree, tree.roots[0], limits).nodes.size();
  };
  EXPECT_EQ(nodes({.min_share = 0.02}), 2u);
  EXPECT_EQ(nodes({.min_share = 0.02, .most_pruned = 0.5}), 102u);
  EXPECT_EQ(nodes({.min_share = 0.02, .max_nodes = 10, .most_pruned = 0.5}), 10u);
  EXPECT_EQ(nodes({.min_share = 0.02, .most_pruned = 0.95}), 2u);
}

TEST(FlameTree, KeepsTheWidestWhenThereAreTooMany) {
  const CallTree tree = sample();
  const FlameTree flame = make_flame_tree(tree, tree.roots[0], {.min_share = 0, .max_nodes = 3});
  ASSERT_EQ(flame.nodes.size(), 3u);
  EXPECT_EQ(to_number(flame.nodes[1].function), 1u);
  EXPECT_EQ(to_number(flame.nodes[2].function), 3u);
}

}  // namespace
}  // namespace telltale
