#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/calls/profile.h"
#include "model/clock.h"
#include "model/function_names.h"
#include "model/name_style.h"

namespace telltale {

// A quantity measured in several runs of one program and several of another. docs/analysis/diff.md
// defines the numbers.
struct RunsComparison {
  struct Side {
    uint64_t least = 0;
    uint64_t median = 0;  // nearest rank
    uint64_t most = 0;
  };
  Side before;
  Side after;
  // Ratio of the geometric means, after to before, and its confidence interval: with a confidence
  // of 95 % the true ratio is within. A side of one run makes the interval [0, infinity).
  double ratio = 1;
  double ratio_low = 0;
  double ratio_high = 0;
};
// Welch's interval of the mean logarithms; a value of 0 counts as 1. REQUIRES: no side is empty.
RunsComparison compare_runs(std::span<const uint64_t> before, std::span<const uint64_t> after);

// The 97.5 % quantile of Student's distribution. REQUIRES: freedom >= 1.
double student_quantile(double freedom);

// Several recordings of each of two programs, aligned by names.
struct RunsDiff {
  // A value for each run; 0 where a run has no call of the function.
  struct Values {
    std::vector<uint64_t> calls;
    std::vector<uint64_t> total_ns;
    std::vector<uint64_t> self_ns;
  };
  struct Row {
    std::string name;
    Values before;
    Values after;
  };
  std::vector<Row> functions;  // by full name
  Row whole;                   // all calls; total: of outermost calls
};

// One run.
struct RunProfile {
  const Profile& profile;
  const Clock& clock;
  const FunctionNames& names;
};
// Aligned by full names. Memory O(functions x runs).
RunsDiff make_runs_diff(std::span<const RunProfile> before, std::span<const RunProfile> after,
                        NameStyle style);

}  // namespace telltale
