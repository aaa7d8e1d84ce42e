#include "analysis/calls/call_graph.h"

#include <gtest/gtest.h>

#include <string>

#include "support/scripted_source.h"

namespace telltale {
namespace {

TEST(CallGraph, RecursionCountsTimeOnce) {
  testing::ScriptedSource source;
  source.thread({1, 7}).enter(0, 1).enter(10, 2).enter(20, 1).enter(30, 2).leave(40, 2).leave(50,
                                                                                              1);
  source.leave(60, 2).leave(100, 1).enter(200, 2).leave(205, 2);
  ProblemLog problems;
  const Result<CallTree> tree = build_call_tree(source, CallFilter(), 1, {}, problems);
  ASSERT_TRUE(tree.has_value());
  const CallGraph graph = make_call_graph(*tree);
  EXPECT_EQ(graph.total, 105u);
  ASSERT_EQ(graph.functions.size(), 2u);
  EXPECT_EQ(graph.functions[0].calls, 2u);
  EXPECT_EQ(graph.functions[0].total, 100u);
  EXPECT_EQ(graph.functions[0].self, 70u);
  EXPECT_EQ(graph.functions[1].calls, 3u);
  EXPECT_EQ(graph.functions[1].total, 55u);
  EXPECT_EQ(graph.functions[1].self, 35u);
  ASSERT_EQ(graph.edges.size(), 2u);
  EXPECT_EQ(graph.edges[0].callee, 1u);
  EXPECT_EQ(graph.edges[0].calls, 2u);
  EXPECT_EQ(graph.edges[0].total, 50u);
  EXPECT_EQ(graph.edges[1].caller, 1u);
  EXPECT_EQ(graph.edges[1].calls, 1u);
  EXPECT_EQ(graph.edges[1].total, 30u);
}

}  // namespace
}  // namespace telltale
