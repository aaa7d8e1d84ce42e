#include "analysis/isolation/compound.h"

#include <gtest/gtest.h>

#include <vector>

namespace telltale::isolation {
namespace {

constexpr double kZ = 1.96;
constexpr uint32_t branch_is_true(uint32_t branch) { return 2 * branch + 1; }

// Runs of a program of branches: 't' true, 'f' false, '-' not reached.
struct Branches {
  explicit Branches(uint32_t count) { sites.add({count, 2, false, false}); }
  void add(int times, bool failed, std::string_view truth) {
    std::vector<ObservedSite> observed;
    for (uint32_t i = 0; i < truth.size(); ++i) {
      if (truth[i] != '-') observed.push_back({i, truth[i] == 't' ? 2U : 1U});
    }
    for (int i = 0; i < times; ++i) runs.push_back({RunEvidence(observed, {0}), failed});
  }
  [[nodiscard]] std::vector<Compound> find(const std::vector<uint32_t>& predicates,
                                           size_t limit = 100) const {
    return find_compounds(sites, runs, predicates, kZ, limit);
  }
  SiteTable sites;
  std::vector<LabelledRun> runs;
};

TEST(Compounds, AConjunctionFailsWhereNeitherPartDoes) {
  Branches program(2);
  program.add(20, true, "tt");
  program.add(20, false, "tf");
  program.add(20, false, "ft");
  program.add(20, false, "ff");
  const auto found = program.find({branch_is_true(1), branch_is_true(0)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].conjunction);
  EXPECT_EQ(found[0].left, branch_is_true(0));
  EXPECT_EQ(found[0].right, branch_is_true(1));
  EXPECT_EQ(found[0].counts.true_in.failing, 20U);
  EXPECT_EQ(found[0].counts.true_in.successful, 0U);
  EXPECT_EQ(found[0].counts.observed_in.successful, 60U);
  EXPECT_GT(found[0].gain, 0);
}

TEST(Compounds, ADisjunctionExplainsBothHalves) {
  Branches program(2);
  program.add(20, true, "tf");
  program.add(20, true, "ft");
  program.add(60, false, "ff");
  const auto found = program.find({branch_is_true(0), branch_is_true(1)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].conjunction);
  EXPECT_EQ(found[0].counts.true_in.failing, 40U);
}

TEST(Compounds, RunsCountWhereTheyDecide) {
  Branches program(2);
  program.add(10, true, "tt");
  program.add(5, false, "f-");   // decides the conjunction alone
  program.add(7, false, "t-");   // decides the disjunction alone
  program.add(11, false, "-f");  // the conjunction
  program.add(13, false, "ff");  // both
  program.add(17, false, "--");  // neither
  program.add(40, true, "f-");
  program.add(20, false, "-t");  // the disjunction
  const std::vector<LabelledRun>& runs = program.runs;
  ASSERT_EQ(runs.size(), 123U) << "more than one word of runs";
  const auto found = program.find({branch_is_true(0), branch_is_true(1)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].conjunction);
  EXPECT_EQ(found[0].counts.observed_in.failing, 50U);
  EXPECT_EQ(found[0].counts.observed_in.successful, 5U + 11 + 13);
}

TEST(Compounds, PartsOfTheSameRunsGainNothing) {
  Branches program(2);
  program.add(20, true, "tt");
  program.add(60, false, "ff");
  EXPECT_TRUE(program.find({branch_is_true(0), branch_is_true(1)}).empty());
}

TEST(Compounds, PredicatesOfTheSameRunsAreUsedOnce) {
  Branches program(3);
  program.add(20, true, "ttt");
  program.add(20, false, "tff");
  program.add(20, false, "ftt");
  program.add(20, false, "fff");
  const auto found = program.find({branch_is_true(0), branch_is_true(1), branch_is_true(2)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].right, branch_is_true(1));
}

TEST(Compounds, TheBestAreKept) {
  Branches program(4);
  program.add(30, true, "ttff");
  program.add(10, true, "fftt");
  for (const char* truth : {"tfff", "ftff", "fftf", "ffft", "ffff"}) program.add(20, false, truth);
  const std::vector<uint32_t> parts = {branch_is_true(0), branch_is_true(1), branch_is_true(2),
                                       branch_is_true(3)};
  const auto all = program.find(parts);
  ASSERT_GT(all.size(), 1U);
  for (size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i - 1].importance, all[i].importance);
  const auto one = program.find(parts, 1);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].importance, all[0].importance);
  EXPECT_TRUE(program.find({}).empty());
}

}  // namespace
}  // namespace telltale::isolation
