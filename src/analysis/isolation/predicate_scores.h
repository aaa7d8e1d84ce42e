#pragma once

#include <cstdint>

namespace telltale::isolation {

// Scores of one predicate, computed from counts of runs. docs/analysis/isolation.md has each
// formula with its source.

// Runs by outcome.
struct RunCounts {
  uint32_t failing = 0;
  uint32_t successful = 0;

  [[nodiscard]] uint32_t all() const { return failing + successful; }
  bool operator==(const RunCounts&) const = default;
};

// Runs in which a predicate was true, and those in which its site was observed. Every run of the
// first kind is of the second.
struct PredicateCounts {
  RunCounts true_in;
  RunCounts observed_in;

  bool operator==(const PredicateCounts&) const = default;
};

struct Interval {
  double low = 0;
  double high = 0;
};

// How the confidence interval of Increase is computed.
enum class IntervalMethod : uint8_t {
  score,   // from Wilson's intervals of fractions of different runs
  normal,  // the published one: a normal approximation for two independent fractions
};

// The number of standard deviations that a normal variable stays within with this probability, for
// instance 1.96 for 0.95. REQUIRES: 0 <= confidence < 1.
double standard_deviations(double confidence);

// Wilson's score interval of the fraction k/n. [0, 1] if n is 0.
Interval wilson_interval(uint32_t k, uint32_t n, double z);

double failure(const PredicateCounts& counts);   // 0 if the predicate was never true
double context(const PredicateCounts& counts);   // 0 if the site was never observed
double increase(const PredicateCounts& counts);  // Failure - Context; 0 if never true
// Of Increase. [-1, 1], nothing is known, if the predicate was never true, or true wherever it was
// observed.
Interval increase_interval(const PredicateCounts& counts, double z, IntervalMethod method);
// The harmonic mean of Increase and of log(F) / log(failing runs); 0 where a part is 0 or less.
double importance(const PredicateCounts& counts, const RunCounts& all);

// Similarity coefficients of fault localisation. They use the runs in which the predicate was true,
// and take all others for runs in which it was false. 0 where undefined.
double ochiai(const PredicateCounts& counts, const RunCounts& all);
double tarantula(const PredicateCounts& counts, const RunCounts& all);
double dstar(const PredicateCounts& counts, const RunCounts& all);  // exponent 2; may be infinite
double op2(const PredicateCounts& counts, const RunCounts& all);
// 0.5 if there are no failing or no successful runs.
double balanced_accuracy(const PredicateCounts& counts, const RunCounts& all);

}  // namespace telltale::isolation
