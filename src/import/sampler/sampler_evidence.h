#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/isolation/evidence.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "import/sampler/sampler_predicates.h"

namespace telltale {

// A run's feedback report, and whether the run failed.
struct RunReport {
  std::string path;
  bool failed = false;
  uint64_t number = 0;     // that people know the run by
  std::string paths = {};  // the run's core file with paths in stack frames; empty: it left none
};

// The smallest and the largest value at a site of bounds (SamplerPredicates::describe_range), as
// order_of() numbers them.
struct SiteRange {
  uint32_t site = 0;
  uint64_t least = 0;
  uint64_t greatest = 0;
};

// Opens a report; called from several threads.
using OpenReport = std::function<Result<InputFile>(const RunReport&)>;

// What the reports of many runs observed at the sites of programs.
struct SamplerEvidence {
  std::vector<isolation::LabelledRun> runs;  // in order; those with a report that could be joined
  std::vector<size_t> report_of_run;         // number in the list that was read
  // IsolationOptions::first_true. A report has times of sites: a predicate's time is known where it
  // was true at every observation of its site. The average over the failing runs that tell.
  std::vector<double> first_true;
  // By run: what it observed at sites of bounds, ascending by site. All are empty if there were
  // more than kMostRanges, which is a problem.
  std::vector<std::vector<SiteRange>> ranges;
  static constexpr uint64_t kMostRanges = 16'000'000;
  uint64_t without_report = 0;  // missing, empty as after SIGKILL, or unreadable
  uint64_t unresolved = 0;      // reports of which no program has a unit
  uint64_t observations = 0;    // sites that a run observed, summed over the runs
  ProblemLog problems;
};

// Reads reports on `workers` threads (0: all cores), which gives the same answer for any number.
// Damage, and sections without site information, are in `problems`.
SamplerEvidence read_sampler_evidence(std::span<const RunReport> reports, const SamplerSites& sites,
                                      const SamplerPredicates& predicates, const OpenReport& open,
                                      size_t workers);

}  // namespace telltale
