#include "analysis/isolation/predicate_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace telltale::isolation {
namespace {

constexpr double kZOf95Percent = 1.959963984540054;  // of 95 %
// True in 30 failing and 10 successful runs, observed in 40 and 60.
constexpr PredicateCounts kCounts{{30, 10}, {40, 60}};
constexpr RunCounts kRuns{50, 150};

TEST(PredicateScores, FailureContextAndIncreaseAreFractionsOfRuns) {
  EXPECT_DOUBLE_EQ(failure(kCounts), 0.75);
  EXPECT_DOUBLE_EQ(context(kCounts), 0.4);
  EXPECT_DOUBLE_EQ(increase(kCounts), 0.35);
}

TEST(PredicateScores, ImportanceIsTheHarmonicMeanOfIncreaseAndRecall) {
  // 2 / (1 / 0.35 + log 50 / log 30)
  EXPECT_NEAR(importance(kCounts, kRuns), 0.4990851, 1e-6);
}

TEST(PredicateScores, ImportanceOfTheOnlyFailingRunIsDefined) {
  const PredicateCounts only{{1, 0}, {1, 3}};
  // Increase 0.75, recall 1.
  EXPECT_DOUBLE_EQ(importance(only, {1, 9}), 2 / (1 / 0.75 + 1));
  // One of several failing runs: log 1 = 0.
  EXPECT_EQ(importance(only, {2, 9}), 0);
}

TEST(PredicateScores, ImportanceIsZeroWithoutIncrease) {
  EXPECT_EQ(importance({{5, 5}, {10, 10}}, kRuns), 0);
  EXPECT_EQ(importance({{1, 9}, {10, 10}}, kRuns), 0);
  EXPECT_EQ(importance({{0, 9}, {10, 10}}, kRuns), 0);
  EXPECT_EQ(importance({}, {}), 0);
}

TEST(PredicateScores, NothingObservedGivesZeros) {
  const PredicateCounts none;
  EXPECT_EQ(failure(none), 0);
  EXPECT_EQ(context(none), 0);
  EXPECT_EQ(increase(none), 0);
  // Observed, and never true.
  EXPECT_EQ(increase({{0, 0}, {5, 5}}), 0);
}

TEST(PredicateScores, StandardDeviationsOfConfidence) {
  EXPECT_NEAR(standard_deviations(0.95), kZOf95Percent, 1e-9);
  EXPECT_NEAR(standard_deviations(0.99), 2.5758293035489, 1e-9);
  EXPECT_NEAR(standard_deviations(0.8), 1.2815515655446, 1e-9);
  EXPECT_NEAR(standard_deviations(0), 0, 1e-9);
}

TEST(PredicateScores, WilsonIntervals) {
  const Interval most = wilson_interval(8, 10, kZOf95Percent);
  EXPECT_NEAR(most.low, 0.4901625, 1e-6);
  EXPECT_NEAR(most.high, 0.9433178, 1e-6);
  const Interval all = wilson_interval(10, 10, kZOf95Percent);
  EXPECT_NEAR(all.low, 0.7224672, 1e-6);
  EXPECT_DOUBLE_EQ(all.high, 1);
  EXPECT_NEAR(wilson_interval(0, 10, kZOf95Percent).high, 1 - 0.7224672, 1e-6);
  EXPECT_DOUBLE_EQ(wilson_interval(0, 0, kZOf95Percent).high, 1);
}

TEST(PredicateScores, ThePublishedIntervalIsANormalApproximation) {
  // 0.35 -+ 1.96 sqrt(0.75 0.25 / 40 + 0.4 0.6 / 100)
  const Interval interval = increase_interval(kCounts, kZOf95Percent, IntervalMethod::normal);
  EXPECT_NEAR(interval.low, 0.1849959, 1e-6);
  EXPECT_NEAR(interval.high, 0.5150041, 1e-6);
}

TEST(PredicateScores, TheScoreIntervalComparesRunsWithAndWithoutThePredicate) {
  const Interval interval = increase_interval(kCounts, kZOf95Percent, IntervalMethod::score);
  EXPECT_NEAR(interval.low, 0.2226088, 1e-6);
  EXPECT_NEAR(interval.high, 0.4445979, 1e-6);
}

TEST(PredicateScores, NothingIsKnownOfAPredicateThatIsTrueWhereverObserved) {
  for (const IntervalMethod method : {IntervalMethod::score, IntervalMethod::normal}) {
    const Interval interval = increase_interval({{5, 7}, {5, 7}}, kZOf95Percent, method);
    EXPECT_EQ(interval.low, -1);
    EXPECT_EQ(interval.high, 1);
  }
}

// The normal approximation has no width at Failure = 1, however few runs there are.
TEST(PredicateScores, OneRunIsLessEvidenceThanTen) {
  const PredicateCounts one{{1, 0}, {1, 99}};
  const PredicateCounts ten{{10, 0}, {10, 990}};
  const auto low = [](const PredicateCounts& counts) {
    return increase_interval(counts, kZOf95Percent, IntervalMethod::score).low;
  };
  EXPECT_LT(low(one), 0.25);
  EXPECT_GT(low(ten), 0.65);
}

TEST(PredicateScores, CoefficientsOfFaultLocalisation) {
  EXPECT_NEAR(ochiai(kCounts, kRuns), 30 / std::sqrt(50.0 * 40), 1e-12);
  EXPECT_NEAR(tarantula(kCounts, kRuns), 0.6 / (0.6 + 10.0 / 150), 1e-12);
  EXPECT_NEAR(dstar(kCounts, kRuns), 900.0 / 30, 1e-12);
  EXPECT_NEAR(op2(kCounts, kRuns), 30 - 10.0 / 151, 1e-12);
  EXPECT_NEAR(balanced_accuracy(kCounts, kRuns), (30.0 / 50 + 140.0 / 150) / 2, 1e-12);
}

TEST(PredicateScores, CoefficientsAtTheEdges) {
  EXPECT_EQ(ochiai({}, kRuns), 0);
  EXPECT_EQ(tarantula({}, kRuns), 0);
  EXPECT_EQ(dstar({}, kRuns), 0);
  EXPECT_EQ(op2({}, kRuns), 0);
  EXPECT_EQ(balanced_accuracy({}, kRuns), 0.5);
  EXPECT_EQ(balanced_accuracy({}, {5, 0}), 0.5);
  const PredicateCounts perfect{{50, 0}, {50, 150}};
  EXPECT_EQ(ochiai(perfect, kRuns), 1);
  EXPECT_EQ(tarantula(perfect, kRuns), 1);
  EXPECT_EQ(dstar(perfect, kRuns), std::numeric_limits<double>::infinity());
  EXPECT_EQ(op2(perfect, kRuns), 50);
  EXPECT_EQ(balanced_accuracy(perfect, kRuns), 1);
}

}  // namespace
}  // namespace telltale::isolation
