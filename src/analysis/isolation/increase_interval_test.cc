// How often the interval of Increase contains the true value, for programs whose truth is known.
#include <gtest/gtest.h>

#include <random>

#include "analysis/isolation/predicate_scores.h"

namespace telltale::isolation {
namespace {

// A program with one site, which a run executes 48 times. A run has the bug with some probability;
// then the predicate is true in each execution with probability `truth`, otherwise never.
struct Truth {
  double bug = 0.1;
  double truth = 0.3;
  double fails_with_bug = 0.8;
  double fails_without = 0.02;

  // A run fails independently of how often it executes the site, so sampling does not change this:
  // failure is fails_with_bug, context the failing fraction of all runs.
  [[nodiscard]] double increase() const { return (1 - bug) * (fails_with_bug - fails_without); }
};

// Executions that are observed together: 1 for sampled sites, more for regions and calls.
struct Sampling {
  int executions = 1;
  double sparsity = 1;
};

class Simulation {
 public:
  Simulation(const Truth& truth, const Sampling& sampling) : truth_(truth), sampling_(sampling) {}

  PredicateCounts play(int runs) {
    PredicateCounts counts;
    for (int run = 0; run < runs; ++run) {
      const bool bug = chance(truth_.bug);
      const bool fails = chance(bug ? truth_.fails_with_bug : truth_.fails_without);
      bool observed = false;
      bool was_true = false;
      const int groups = kExecutions / sampling_.executions;
      for (int group = skipped(); group < groups; group += 1 + skipped()) {
        observed = true;
        for (int i = 0; bug && i < sampling_.executions; ++i) was_true |= chance(truth_.truth);
      }
      if (observed) count(counts.observed_in, fails);
      if (was_true) count(counts.true_in, fails);
    }
    return counts;
  }

 private:
  static constexpr int kExecutions = 48;
  static void count(RunCounts& counts, bool fails) {
    ++(fails ? counts.failing : counts.successful);
  }
  // Groups before the next one that is sampled.
  int skipped() {
    return sampling_.sparsity == 1
               ? 0
               : std::geometric_distribution<int>(1 / sampling_.sparsity)(random_);
  }
  bool chance(double p) { return uniform_(random_) < p; }

  Truth truth_;
  Sampling sampling_;
  std::mt19937_64 random_{17};
  std::uniform_real_distribution<double> uniform_{0, 1};
};

// The share of simulated studies whose interval contains the truth.
double coverage(const Truth& truth, const Sampling& sampling, IntervalMethod method) {
  constexpr int kStudies = 300;
  constexpr int kRuns = 800;
  const double z = standard_deviations(0.95);
  Simulation simulation(truth, sampling);
  int covered = 0;
  for (int study = 0; study < kStudies; ++study) {
    const Interval interval = increase_interval(simulation.play(kRuns), z, method);
    covered += interval.low <= truth.increase() && truth.increase() <= interval.high ? 1 : 0;
  }
  return static_cast<double>(covered) / kStudies;
}

// 0.95, less three standard deviations of 300 studies.
TEST(IncreaseInterval, ContainsTheTruthAsOftenAsItSays) {
  for (const double fails_with_bug : {0.1, 0.5, 1.0}) {
    Truth truth;
    truth.fails_with_bug = fails_with_bug;
    for (const int executions : {1, 3, 12}) {  // sites, regions, calls
      for (const double sparsity : {1.0, 10.0, 100.0, 1000.0, 10000.0}) {
        EXPECT_GE(coverage(truth, {executions, sparsity}, IntervalMethod::score), 0.912)
            << fails_with_bug << ' ' << executions << ' ' << sparsity;
      }
    }
  }
}

}  // namespace
}  // namespace telltale::isolation
