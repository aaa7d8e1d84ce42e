#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/isolation/evidence.h"

namespace telltale::isolation {

// A predicate's part in a regression.
struct Coefficient {
  uint32_t predicate = 0;
  double weight = 0;  // logarithm of odds: above 0, the predicate predicts failure; never 0
  RunCounts true_in;
};

// Logistic regression with an L1 penalty (Liblit, Aiken, Zheng and Jordan, Bug Isolation via Remote
// Program Sampling, PLDI 2003, section 3.3). With x = 1 for each predicate that was true in a run,
//   P(the run fails) = 1 / (1 + exp(-(intercept + sum of weights x)))
// and the weights minimise the mean of -log P(outcome) over the runs, plus lambda times the sum of
// their absolute values.
struct Regression {
  double lambda = 0;   // 0: nothing to fit, because all runs have the same outcome
  uint32_t folds = 0;  // of the cross-validation that chose lambda; 0: too few runs of an outcome
  uint32_t parts = 0;  // predicates that were true in different runs, and took part
  double intercept = 0;
  std::vector<Coefficient> coefficients;  // those that are not 0, the largest weight first
};

// Fits it to `predicates`; of those that were true in the same runs, the first in the list takes
// part. lambda is chosen from twelve values below the smallest one that makes all weights 0: the
// largest one of which the deviance in cross-validation is within a standard error of the lowest.
// With fewer than two runs of an outcome, it is a tenth of that value. The answer depends neither
// on the order of the runs nor on `workers` (0: all cores).
Regression fit_regression(const SiteTable& sites, std::span<const LabelledRun> runs,
                          std::span<const uint32_t> predicates, size_t workers);

}  // namespace telltale::isolation
