#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/isolation/evidence.h"
#include "analysis/isolation/predicate_scores.h"

namespace telltale::isolation {

// The score that orders the predicates.
enum class Score : uint8_t {
  importance,
  lower_bound,  // of the confidence interval of Increase
  increase,
  failure,
  failing_runs,  // F
  ochiai,
  tarantula,
  dstar,
  op2,
  balanced_accuracy,
};

// How the runs that a chosen predicate explains are discarded.
enum class Discard : uint8_t {
  all_runs,      // all runs in which it was true
  failing_runs,  // the failing ones
  relabel,       // the failing ones become successful
};

// Predicates that are dropped. The last four filters are from the paper of 2003.
struct Filters {
  bool lower_bound = true;                 // the lower bound of Increase is not above 0
  bool universal_falsehood = false;        // never true
  bool failing_coverage = false;           // no failing run observed the site
  bool failing_example = false;            // true in no failing run
  bool successful_counterexample = false;  // true in a successful run
};

struct IsolationOptions {
  Score score = Score::importance;
  Discard discard = Discard::all_runs;
  Filters filters;
  IntervalMethod interval = IntervalMethod::score;
  double confidence = 0.95;
  uint32_t least_runs = 0;  // in which a predicate must have been true
  bool eliminate = true;    // false: one ranking of all predicates that the filters leave
  size_t limit = 0;         // predicates in the answer; 0: no limit
  size_t affinity = 0;      // length of each predictor's affinity list
  size_t affinity_of = 0;   // how many predictors have one, the first; 0: all
  size_t workers = 0;       // 0: all cores
  // By predicate: when it became true in failing runs, from 0 (start of the run) to 1. Orders equal
  // scores, because causes precede consequences. Not a number: unknown. Empty: unknown for all
  // predicates.
  std::span<const double> first_true = {};
  // Orders predicates that are equal in all else, and Predictor::same: the lower the more it tells
  // about a cause. Null: the same for all.
  std::function<unsigned(uint32_t predicate)> rank = {};
};

// Another predicate, and the loss of its importance if the runs of a predictor are removed.
struct Affinity {
  uint32_t predicate = 0;
  double before = 0;
  double after = 0;
};

struct Predictor {
  uint32_t predicate = 0;
  PredicateCounts counts;  // of all runs
  double score = 0;        // of all runs, by the chosen score
  // When it was chosen, after the runs of earlier predictors were discarded.
  PredicateCounts effective_counts;
  RunCounts effective_runs;
  double effective_score = 0;
  uint32_t explained = 0;  // failing runs that no earlier predictor had explained
  // Other predicates that were true in the same runs, those first that pass the filters, and
  // of these those with the lower rank; with `eliminate` only.
  std::vector<uint32_t> same;
  std::vector<Affinity> affinity;  // the largest loss first
};

struct Isolation {
  RunCounts runs;
  uint32_t predicates_true = 0;  // predicates that were true in a run
  uint32_t candidates = 0;       // of these, the number that pass the filters
  uint32_t unexplained = 0;      // failing runs in which no predictor was true
  std::vector<Predictor> predictors;
};

double score_of(Score score, const PredicateCounts& counts, const RunCounts& all,
                const IsolationOptions& options);

// Finds the predicates that predict failure. The answer does not depend on the number of workers;
// the order of the runs does not matter.
Isolation isolate(const SiteTable& sites, std::span<const LabelledRun> runs,
                  const IsolationOptions& options);

}  // namespace telltale::isolation
