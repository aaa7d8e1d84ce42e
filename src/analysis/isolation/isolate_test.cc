#include "analysis/isolation/isolate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace telltale::isolation {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Runs of a program of branches only: site i has the predicates 2i (FALSE) and 2i + 1 (TRUE).
class Program {
 public:
  explicit Program(uint32_t branches) : branches_(branches) {
    sites_.add({branches, 2, false, false});
  }
  // `truth`: a branch's outcome; every branch is reached.
  void add_run(bool failed, const std::vector<bool>& truth) {
    std::vector<ObservedSite> observed;
    for (uint32_t i = 0; i < branches_; ++i) observed.push_back({i, truth[i] ? 2U : 1U});
    runs_.push_back({RunEvidence(observed, {0}), failed});
  }
  // Of the branches that are listed, and no other.
  void add_observed(bool failed, const std::vector<ObservedSite>& observed) {
    runs_.push_back({RunEvidence(observed, {0}), failed});
  }
  [[nodiscard]] Isolation isolate(const IsolationOptions& options = {}) const {
    return isolation::isolate(sites_, runs_, options);
  }
  [[nodiscard]] std::vector<uint32_t> predictors(const IsolationOptions& options = {}) const {
    std::vector<uint32_t> predicates;
    for (const Predictor& predictor : isolate(options).predictors)
      predicates.push_back(predictor.predicate);
    return predicates;
  }
  std::vector<LabelledRun>& runs() { return runs_; }

 private:
  uint32_t branches_;
  SiteTable sites_;
  std::vector<LabelledRun> runs_;
};

constexpr uint32_t is_true(uint32_t branch) { return 2 * branch + 1; }

// Two bugs; a branch that both bugs make true, and noise.
Program two_bugs(double noise_in_labels = 0) {
  constexpr uint32_t kNoise = 40;
  Program program(3 + kNoise);
  std::mt19937 random(11);
  const auto chance = [&](double p) {
    return std::uniform_real_distribution(0.0, 1.0)(random) < p;
  };
  for (int run = 0; run < 2000; ++run) {
    const bool first = chance(0.10);
    const bool second = chance(0.03);
    // The second bug crashes half of the time.
    bool failed = first || (second && chance(0.5));
    if (chance(noise_in_labels)) failed = !failed;
    std::vector<bool> truth = {first, second, first || second || chance(0.1)};
    for (uint32_t i = 0; i < kNoise; ++i) truth.push_back(chance(0.05 + 0.02 * i));
    program.add_run(failed, truth);
  }
  return program;
}

// Branches that are equal in all else: the one that tells more comes first, also among the others
// that were true in the same runs.
TEST(Isolate, OfEqualPredicatesTheOneThatTellsMoreIsChosen) {
  Program program(4);
  for (int run = 0; run < 40; ++run) {
    const bool failed = run % 4 == 0;
    program.add_run(failed, std::vector<bool>(4, failed));
  }
  EXPECT_THAT(program.predictors(), ElementsAre(is_true(0)));
  IsolationOptions options;
  options.rank = [](uint32_t predicate) -> unsigned {
    return predicate == is_true(0) ? 2 : predicate == is_true(2) ? 0 : 1;
  };
  const Isolation answer = program.isolate(options);
  ASSERT_EQ(answer.predictors.size(), 1U);
  EXPECT_EQ(answer.predictors[0].predicate, is_true(2));
  EXPECT_THAT(answer.predictors[0].same, ElementsAre(is_true(1), is_true(3), is_true(0)));
  // It is not chosen if it is worse.
  program.add_run(false, {false, false, true, false});
  EXPECT_EQ(program.isolate(options).predictors[0].predicate, is_true(1));
}

TEST(Isolate, FindsTwoCausesFirstAndSecond) {
  const Isolation answer = two_bugs().isolate();
  ASSERT_GE(answer.predictors.size(), 2U);
  EXPECT_EQ(answer.predictors[0].predicate, is_true(0));
  EXPECT_EQ(answer.predictors[1].predicate, is_true(1));
  EXPECT_EQ(answer.unexplained, 0U);
  EXPECT_EQ(answer.predictors.size(), 2U);
}

// The confounder, true in every failing run, comes before the second cause without elimination.
TEST(Isolate, EliminationMovesTheSecondCauseBeforeAConfounder) {
  IsolationOptions all;
  all.eliminate = false;
  const std::vector<uint32_t> ranking = two_bugs().predictors(all);
  const auto rank = [&](uint32_t predicate) { return std::ranges::find(ranking, predicate); };
  EXPECT_EQ(ranking.front(), is_true(0));
  EXPECT_LT(rank(is_true(2)), rank(is_true(1)));
  EXPECT_NE(rank(is_true(1)), ranking.end());
}

TEST(Isolate, EachWayOfDiscardingFindsBothCauses) {
  for (const Discard discard : {Discard::all_runs, Discard::failing_runs, Discard::relabel}) {
    IsolationOptions options;
    options.discard = discard;
    const std::vector<uint32_t> predictors = two_bugs().predictors(options);
    ASSERT_GE(predictors.size(), 2U);
    EXPECT_EQ(predictors[0], is_true(0));
    EXPECT_EQ(predictors[1], is_true(1));
  }
}

TEST(Isolate, WrongLabelsLeaveTheCausesFirst) {
  const Isolation answer = two_bugs(0.03).isolate();
  ASSERT_GE(answer.predictors.size(), 2U);
  EXPECT_EQ(answer.predictors[0].predicate, is_true(0));
  EXPECT_EQ(answer.predictors[1].predicate, is_true(1));
}

// What the ways of discarding do to a branch that is TRUE in some runs of the first cause.
TEST(Isolate, WaysOfDiscardingDiffer) {
  // Branch 0 is the cause of 40 failures and harmless twice. Branch 1: 10 other failures.
  Program program(2);
  for (int i = 0; i < 40; ++i) program.add_run(true, {true, false});
  for (int i = 0; i < 2; ++i) program.add_run(false, {true, false});
  for (int i = 0; i < 10; ++i) program.add_run(true, {false, true});
  for (int i = 0; i < 65; ++i) program.add_run(false, {false, false});
  const auto second = [&](Discard discard) {
    IsolationOptions options;
    options.discard = discard;
    const Isolation answer = program.isolate(options);
    EXPECT_EQ(answer.predictors.size(), 2U);
    EXPECT_EQ(answer.predictors[0].predicate, is_true(0));
    EXPECT_EQ(answer.predictors[1].predicate, is_true(1));
    return answer.predictors[1];
  };
  EXPECT_EQ(second(Discard::all_runs).effective_counts, (PredicateCounts{{10, 0}, {10, 65}}));
  EXPECT_EQ(second(Discard::all_runs).effective_runs, (RunCounts{10, 65}));
  EXPECT_EQ(second(Discard::failing_runs).effective_counts, (PredicateCounts{{10, 0}, {10, 67}}));
  EXPECT_EQ(second(Discard::relabel).effective_counts, (PredicateCounts{{10, 0}, {10, 107}}));
  EXPECT_EQ(second(Discard::relabel).effective_runs, (RunCounts{10, 107}));
  // What is said of all runs does not change.
  EXPECT_EQ(second(Discard::relabel).counts, (PredicateCounts{{10, 0}, {50, 67}}));
}

TEST(Isolate, PredicatesOfTheSameRunsAreOneRow) {
  Program program(3);
  for (int i = 0; i < 10; ++i) program.add_run(true, {true, true, true});
  // As often true as the others, in other runs.
  program.add_run(false, {false, false, true});
  program.add_run(false, {true, true, false});
  for (int i = 0; i < 30; ++i) program.add_run(false, {false, false, false});
  const Isolation answer = program.isolate();
  ASSERT_EQ(answer.predictors.size(), 1U);
  EXPECT_EQ(answer.predictors[0].predicate, is_true(0));
  EXPECT_THAT(answer.predictors[0].same, ElementsAre(is_true(1)));
  // Without elimination every predicate is a row; lists would grow with the square.
  IsolationOptions all;
  all.eliminate = false;
  for (const Predictor& predictor : program.isolate(all).predictors)
    EXPECT_THAT(predictor.same, IsEmpty());
}

TEST(Isolate, PredicatesThatTheFiltersDropAreInTheSameRuns) {
  Program program(3);
  // Branch 0 decides; branches 1 and 2 are only reached if it was true.
  for (int i = 0; i < 10; ++i) program.add_observed(true, {{0, 2}, {1, 2}, {2, 1}});
  for (int i = 0; i < 30; ++i) program.add_observed(false, {{0, 1}});
  const Isolation answer = program.isolate();
  ASSERT_EQ(answer.predictors.size(), 1U);
  EXPECT_EQ(answer.candidates, 1U);
  EXPECT_EQ(answer.predictors[0].predicate, is_true(0));
  EXPECT_THAT(answer.predictors[0].same, ElementsAre(is_true(1), is_true(2) - 1));
}

TEST(Isolate, AffinityListsWhatLosesImportance) {
  Program program(4);
  for (int i = 0; i < 20; ++i) program.add_run(true, {true, true, false, i % 2 == 0});
  for (int i = 0; i < 10; ++i) program.add_run(true, {false, false, true, false});
  for (int i = 0; i < 70; ++i) program.add_run(false, {false, i < 5, false, i % 2 == 0});
  IsolationOptions options;
  options.affinity = 5;
  const Isolation answer = program.isolate(options);
  ASSERT_EQ(answer.predictors[0].predicate, is_true(0));
  ASSERT_FALSE(answer.predictors[0].affinity.empty());
  const Affinity& nearest = answer.predictors[0].affinity[0];
  EXPECT_EQ(nearest.predicate, is_true(1));
  EXPECT_GT(nearest.before, 0.5);
  EXPECT_EQ(nearest.after, 0);
  // The other bug does not depend on these runs.
  for (const Affinity& affinity : answer.predictors[0].affinity)
    EXPECT_NE(affinity.predicate, is_true(2));
}

TEST(Isolate, AffinityOfTheFirstPredictorsOnly) {
  Program program(4);
  for (int i = 0; i < 20; ++i) program.add_run(true, {true, true, false, i % 2 == 0});
  for (int i = 0; i < 70; ++i) program.add_run(false, {false, i < 5, false, i % 2 == 0});
  IsolationOptions options;
  options.eliminate = false;
  options.affinity = 1;
  const Isolation all = program.isolate(options);
  options.affinity_of = 1;
  const Isolation first = program.isolate(options);
  ASSERT_GE(all.predictors.size(), 2);
  ASSERT_EQ(first.predictors.size(), all.predictors.size());
  ASSERT_EQ(all.predictors[1].affinity.size(), 1);
  ASSERT_EQ(first.predictors[0].affinity.size(), 1);
  EXPECT_EQ(first.predictors[0].affinity[0].predicate, all.predictors[0].affinity[0].predicate);
  EXPECT_THAT(first.predictors[1].affinity, IsEmpty());
}

TEST(Isolate, NoFailingRun) {
  Program program(1);
  for (int i = 0; i < 10; ++i) program.add_run(false, {i % 2 == 0});
  const Isolation answer = program.isolate();
  EXPECT_THAT(answer.predictors, IsEmpty());
  EXPECT_EQ(answer.unexplained, 0U);
  EXPECT_EQ(answer.predicates_true, 2U);
}

TEST(Isolate, OneFailingRun) {
  Program program(2);
  for (int i = 0; i < 50; ++i) program.add_run(false, {false, i % 3 == 0});
  program.add_run(true, {true, true});
  const Isolation answer = program.isolate();
  ASSERT_EQ(answer.predictors.size(), 1U);
  EXPECT_EQ(answer.predictors[0].predicate, is_true(0));
  EXPECT_EQ(answer.predictors[0].explained, 1U);
  EXPECT_EQ(answer.predicates_true, 4U);  // one of them in this run only
}

TEST(Isolate, NoSuccessfulRunAndNoRun) {
  Program program(2);
  const Isolation nothing = program.isolate();
  EXPECT_THAT(nothing.predictors, IsEmpty());
  EXPECT_EQ(nothing.predicates_true, 0U);
  for (int i = 0; i < 5; ++i) program.add_run(true, {true, i == 0});
  const Isolation answer = program.isolate();
  EXPECT_THAT(answer.predictors, IsEmpty());
  EXPECT_EQ(answer.unexplained, 5U);
}

// Only runs that observed a site say anything about it.
TEST(Isolate, ContextIsOfTheRunsThatObservedTheSite) {
  Program program(2);
  // Branch 1 is reached in failing runs only: reaching it says something, its outcome nothing.
  for (int i = 0; i < 10; ++i) program.add_observed(true, {{0, 2}, {1, 2}});
  for (int i = 0; i < 10; ++i) program.add_observed(true, {{0, 2}, {1, 1}});
  for (int i = 0; i < 50; ++i) program.add_observed(false, {{0, 1}});
  EXPECT_THAT(program.predictors(), ElementsAre(is_true(0)));
}

TEST(Isolate, TheOrderOfRunsAndTheNumberOfWorkersDoNotMatter) {
  Program program = two_bugs(0.02);
  IsolationOptions options;
  options.affinity = 3;
  options.workers = 1;
  const Isolation once = program.isolate(options);
  std::mt19937 random(3);
  std::ranges::shuffle(program.runs(), random);
  for (const size_t workers : {1U, 2U, 7U}) {
    options.workers = workers;
    const Isolation again = program.isolate(options);
    ASSERT_EQ(again.predictors.size(), once.predictors.size());
    for (size_t i = 0; i < once.predictors.size(); ++i) {
      EXPECT_EQ(again.predictors[i].predicate, once.predictors[i].predicate);
      EXPECT_EQ(again.predictors[i].effective_counts, once.predictors[i].effective_counts);
      EXPECT_EQ(again.predictors[i].same, once.predictors[i].same);
      EXPECT_EQ(again.predictors[i].affinity.size(), once.predictors[i].affinity.size());
    }
  }
}

TEST(Isolate, FiltersOfThePublishedPaper) {
  Program program(4);
  // 0: the cause. 1: TRUE in no failing run. 2: never TRUE. 3: not reached in failing runs.
  for (int i = 0; i < 10; ++i) program.add_observed(true, {{0, 2}, {1, 1}, {2, 1}});
  for (int i = 0; i < 20; ++i) program.add_observed(false, {{0, 1}, {1, 3}, {2, 1}, {3, 3}});
  IsolationOptions options;
  options.eliminate = false;
  const auto left = [&](auto set) {
    options.filters = Filters();
    options.filters.lower_bound = false;
    set(options.filters);
    return program.predictors(options);
  };
  EXPECT_EQ(left([](Filters&) {}).size(), 8U);
  EXPECT_THAT(left([](Filters& filters) { filters.universal_falsehood = true; }),
              UnorderedElementsAre(0, 1, 2, 3, 4, 6, 7));
  EXPECT_THAT(left([](Filters& filters) { filters.failing_coverage = true; }),
              UnorderedElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(left([](Filters& filters) { filters.failing_example = true; }),
              UnorderedElementsAre(1, 2, 4));
  EXPECT_THAT(left([](Filters& filters) { filters.successful_counterexample = true; }),
              UnorderedElementsAre(1, 5));
  EXPECT_THAT(left([](Filters& filters) { filters.lower_bound = true; }), UnorderedElementsAre(1));
  options.least_runs = 11;
  EXPECT_THAT(left([](Filters& filters) { filters.lower_bound = true; }), IsEmpty());
}

TEST(Isolate, OrdersByTheScoreThatIsAskedFor) {
  Program program(2);
  // Branch 0: 8 of 10 failures and no success. Branch 1: all failures, 4 successes.
  for (int i = 0; i < 10; ++i) program.add_run(true, {i < 8, true});
  for (int i = 0; i < 90; ++i) program.add_run(false, {false, i < 4});
  const auto first = [&](Score score) {
    IsolationOptions options;
    options.score = score;
    return program.predictors(options).at(0);
  };
  EXPECT_EQ(first(Score::failure), is_true(0));
  EXPECT_EQ(first(Score::tarantula), is_true(0));
  EXPECT_EQ(first(Score::failing_runs), is_true(1));
  EXPECT_EQ(first(Score::op2), is_true(1));
  EXPECT_EQ(first(Score::ochiai), is_true(0));  // 0.894 and 0.845
  EXPECT_EQ(first(Score::dstar), is_true(0));   // 64 / 2 and 100 / 4
}

TEST(Isolate, OfEqualScoresThePredicateThatBecameTrueFirstComesFirst) {
  Program program(4);
  for (int i = 0; i < 10; ++i) program.add_run(true, {true, true, true, true});
  for (int i = 0; i < 20; ++i) program.add_run(false, {false, false, false, i < 10});
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> first_true(8, unknown);
  first_true[is_true(1)] = 0.7;
  first_true[is_true(2)] = 0.2;
  first_true[is_true(3)] = 0.1;
  IsolationOptions options;
  options.first_true = first_true;
  EXPECT_THAT(program.predictors(options), ElementsAre(is_true(2)));
  options.eliminate = false;
  EXPECT_THAT(program.predictors(options),
              ElementsAre(is_true(2), is_true(1), is_true(0), is_true(3)));
}

TEST(Isolate, EqualScoresAreInTheOrderOfTheProgram) {
  Program program(3);
  for (int i = 0; i < 10; ++i) program.add_run(true, {false, true, true});
  for (int i = 0; i < 10; ++i) program.add_run(false, {false, false, false});
  EXPECT_THAT(program.predictors(), ElementsAre(is_true(1)));
}

}  // namespace
}  // namespace telltale::isolation
