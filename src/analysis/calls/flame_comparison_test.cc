#include "analysis/calls/flame_comparison.h"

#include <gtest/gtest.h>

#include <string>

#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;

class NamesByNumber : public FunctionNames {
 public:
  explicit NamesByNumber(std::vector<std::string> names) {
    for (std::string& name : names) {
      infos_.emplace_back();
      infos_.back().name = std::move(name);
    }
  }
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    return infos_.at(to_number(id));
  }

 private:
  std::vector<FunctionInfo> infos_;
};

CallTree tree_of(const ScriptedSource& source) {
  ProblemLog problems;
  return *build_call_tree(source, CallFilter(), 1, {}, problems);
}

// before: main 100 { a 50, gone 30 }; after: main 90 { fresh 10, a 60 { a 20 } }. Ids differ.
FlameComparison compare(const FlameLimits& limits) {
  ScriptedSource old;
  old.thread({1, 7}).enter(0, 0).enter(0, 1).leave(50, 1).enter(50, 2).leave(80, 2).leave(100, 0);
  ScriptedSource fresh;
  fresh.thread({1, 7}).enter(0, 2).enter(0, 1).leave(10, 1).enter(10, 0).enter(20, 0);
  fresh.leave(40, 0).leave(70, 0).leave(90, 2);
  const NamesByNumber old_names({"main", "a", "gone"});
  const NamesByNumber fresh_names({"a", "fresh", "main"});
  const CallTree before = tree_of(old);
  const CallTree after = tree_of(fresh);
  const Clock clock;
  return compare_flame_trees({before, clock, old_names}, {after, clock, fresh_names}, limits);
}

std::string described(const FlameComparison& comparison) {
  std::string text;
  for (size_t i = 0; i < comparison.tree.nodes.size(); ++i) {
    const FlameTree::Node& now = comparison.tree.nodes[i];
    const FlameTree::Numbers& was = comparison.tree.before[i];
    text += std::string(now.depth, ' ');
    text += now.depth == 0 ? "all" : comparison.names.describe(now.function).name;
    for (const uint64_t number : {was.calls, was.calls_inside, was.total, was.self}) {
      text += " " + std::to_string(number);
    }
    text += " >";
    for (const uint64_t number : {now.calls, now.calls_inside, now.total, now.self}) {
      text += " " + std::to_string(number);
    }
    text += "\n";
  }
  return text;
}

TEST(FlameComparison, AlignsPathsByNameAndPutsTheWidestOfTheLaterFirst) {
  EXPECT_EQ(described(compare({.min_share = 0})),
            "all 0 3 100 0 > 0 4 90 0\n"
            " main 1 3 100 20 > 1 4 90 20\n"
            "  a 1 1 50 50 > 1 2 60 40\n"
            "   a 0 0 0 0 > 1 1 20 20\n"
            "  fresh 0 0 0 0 > 1 1 10 10\n"
            "  gone 1 1 30 30 > 0 0 0 0\n");
}

TEST(FlameComparison, KeepsWhatIsWideInEither) {
  // gone: a third of the calls before; fresh and the inner a: a quarter of the calls after.
  const FlameComparison comparison = compare({.min_share = 0.3});
  EXPECT_EQ(described(comparison),
            "all 0 3 100 0 > 0 4 90 0\n"
            " main 1 3 100 20 > 1 4 90 20\n"
            "  a 1 1 50 50 > 1 2 60 40\n"
            "  gone 1 1 30 30 > 0 0 0 0\n");
  EXPECT_EQ(comparison.tree.pruned_nodes, 2u);
  EXPECT_EQ(comparison.tree.pruned_self, 30u);
  EXPECT_DOUBLE_EQ(comparison.tree.widest_pruned, 0.25);
  EXPECT_EQ(compare({.min_share = 0, .max_nodes = 3}).tree.nodes.size(), 3u);
}

TEST(FlameComparison, IsNotEmptyBecauseAllIsNarrow) {
  // main alone has 40 of 190.
  EXPECT_EQ(compare({.min_share = 0.9, .most_pruned = 0.8}).tree.nodes.size(), 2u);
  EXPECT_EQ(compare({.min_share = 0.9, .most_pruned = 0.5}).tree.nodes.size(), 6u);
}

TEST(FlameComparison, OfNothing) {
  const CallTree none;
  const NamesByNumber names({});
  const Clock clock;
  const FlameComparison comparison =
      compare_flame_trees({none, clock, names}, {none, clock, names}, {});
  EXPECT_EQ(described(comparison), "all 0 0 0 0 > 0 0 0 0\n");
}

}  // namespace
}  // namespace telltale
