#include "analysis/isolation/regression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace telltale::isolation {
namespace {

// A program of branches; predicate 2i + 1 is "branch i is true".
struct Branching {
  explicit Branching(uint32_t count) : branches(count) { sites.add({count, 2, false, false}); }
  void add(bool failed, const std::vector<bool>& truth) {
    std::vector<ObservedSite> observed;
    for (uint32_t i = 0; i < truth.size(); ++i) observed.push_back({i, truth[i] ? 2U : 1U});
    runs.push_back({RunEvidence(observed, {0}), failed});
  }
  [[nodiscard]] Regression fit(size_t workers = 1) const {
    std::vector<uint32_t> predicates;
    for (uint32_t i = 0; i < branches; ++i) predicates.push_back(2 * i + 1);
    return fit_regression(sites, runs, predicates, workers);
  }
  uint32_t branches;
  SiteTable sites;
  std::vector<LabelledRun> runs;
};

// 40 branches at random. Branch 3 causes nearly all failures; branch 7 is true with it more often
// than not, and causes none.
Branching confounded(unsigned seed, int count) {
  std::mt19937 random(seed);
  Branching program(40);
  for (int i = 0; i < count; ++i) {
    std::vector<bool> truth;
    for (uint32_t branch = 0; branch < 40; ++branch) truth.push_back(random() % 4 == 0);
    if (truth[3]) truth[7] = random() % 4 != 0;
    program.add(truth[3] ? random() % 10 != 0 : random() % 50 == 0, truth);
  }
  return program;
}

TEST(Regression, TheCauseIsFirstAndWhatAccompaniesItCountsLittle) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Regression found = confounded(seed, 600).fit();
    EXPECT_EQ(found.folds, 5U);
    EXPECT_EQ(found.parts, 40U);
    ASSERT_FALSE(found.coefficients.empty());
    EXPECT_EQ(found.coefficients.front().predicate, 7U);
    EXPECT_GT(found.coefficients.front().weight, 2) << seed;
    for (const Coefficient& other : found.coefficients) {
      if (other.predicate == 7) continue;
      EXPECT_LT(std::abs(other.weight), 0.5) << other.predicate;
    }
  }
}

// Sampled runs: few branches are observed to be true, and most failures are in runs without the one
// that causes them.
Branching sampled(unsigned seed, int count) {
  std::mt19937 random(seed);
  Branching program(40);
  for (int i = 0; i < count; ++i) {
    const bool is_caused = random() % 8 == 0;
    std::vector<bool> truth;
    for (uint32_t branch = 0; branch < 40; ++branch)
      truth.push_back(random() % (4 + 2 * branch) == 0);
    if (is_caused) truth[3] = truth[5] = random() % 3 == 0;
    program.add(is_caused || random() % 40 == 0, truth);
  }
  return program;
}

void expect_minimum(const Branching& program) {
  const Regression found = program.fit();
  const auto count = static_cast<double>(program.runs.size());
  std::vector<double> slopes(40);
  double balance = 0;
  for (const LabelledRun& run : program.runs) {
    const auto is_true = [&](uint32_t branch) { return run.evidence.counted_at(branch) == 2; };
    double margin = found.intercept;
    for (const Coefficient& one : found.coefficients)
      margin += is_true(one.predicate / 2) ? one.weight : 0;
    const double rest = (run.failed ? 1 : 0) - 1 / (1 + std::exp(-margin));
    balance += rest / count;
    for (uint32_t i = 0; i < 40; ++i) slopes[i] += is_true(i) ? rest / count : 0;
  }
  EXPECT_NEAR(balance, 0, 1e-6);
  for (uint32_t i = 0; i < 40; ++i) {
    const auto own = std::ranges::find(found.coefficients, 2 * i + 1, &Coefficient::predicate);
    if (own == found.coefficients.end()) {
      EXPECT_LE(std::abs(slopes[i]), found.lambda + 1e-6) << i;
    } else {
      EXPECT_NEAR(slopes[i], std::copysign(found.lambda, own->weight), 1e-6) << i;
    }
  }
}

// The weights fulfil the conditions of the minimum, whichever lambda cross-validation chose.
TEST(Regression, AConditionOfTheMinimumHolds) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    expect_minimum(confounded(seed, 400));
    expect_minimum(sampled(seed, 400));
  }
}

void expect_equal(const Regression& a, const Regression& b) {
  EXPECT_EQ(a.lambda, b.lambda);
  EXPECT_EQ(a.intercept, b.intercept);
  ASSERT_EQ(a.coefficients.size(), b.coefficients.size());
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    EXPECT_EQ(a.coefficients[i].predicate, b.coefficients[i].predicate);
    EXPECT_EQ(a.coefficients[i].weight, b.coefficients[i].weight);
  }
}

TEST(Regression, NeitherThreadsNorTheOrderOfRunsMatter) {
  Branching program = confounded(5, 300);
  const Regression wanted = program.fit();
  expect_equal(wanted, program.fit(2));
  expect_equal(wanted, program.fit(5));
  std::ranges::reverse(program.runs);
  expect_equal(wanted, program.fit(3));
  std::ranges::shuffle(program.runs, std::mt19937(7));
  expect_equal(wanted, program.fit());
}

TEST(Regression, OneOutcomeHasNothingToExplain) {
  for (const bool failed : {false, true}) {
    Branching program(3);
    for (int i = 0; i < 9; ++i) program.add(failed, {i % 2 == 0, i % 3 == 0, true});
    const Regression found = program.fit();
    EXPECT_EQ(found.lambda, 0);
    EXPECT_TRUE(found.coefficients.empty());
  }
}

TEST(Regression, OneFailingRun) {
  Branching program(3);
  program.add(true, {true, true, true});
  for (int i = 0; i < 30; ++i) program.add(false, {false, i % 2 == 0, true});
  const Regression found = program.fit();
  EXPECT_EQ(found.folds, 0U);
  ASSERT_FALSE(found.coefficients.empty());
  EXPECT_EQ(found.coefficients.front().predicate, 1U);
  EXPECT_EQ(found.coefficients.front().true_in, (RunCounts{1, 0}));
}

TEST(Regression, OfPredicatesThatAreTrueInTheSameRunsTheFirstTakesPart) {
  Branching program(3);
  for (int i = 0; i < 40; ++i) program.add(i % 4 == 0, {i % 4 == 0, i % 4 == 0, false});
  const Regression found = program.fit();
  EXPECT_EQ(found.parts, 1U);
  ASSERT_EQ(found.coefficients.size(), 1U);
  EXPECT_EQ(found.coefficients.front().predicate, 1U);
}

TEST(Regression, WithoutAPredicateNothingIsFitted) {
  Branching program(1);
  for (int i = 0; i < 10; ++i) program.add(i == 0, {false});
  const Regression found = program.fit();
  EXPECT_EQ(found.parts, 0U);
  EXPECT_NEAR(found.intercept, std::log(1.0 / 9), 1e-9);
}

}  // namespace
}  // namespace telltale::isolation
