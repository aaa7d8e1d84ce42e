#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/isolation/evidence.h"
#include "base/error.h"
#include "base/problem.h"
#include "cli/study/isolation_input.h"
#include "import/predicate_set.h"
#include "import/recording_evidence.h"

namespace telltale::cli {

// The observations of labelled runs: from feedback reports with the sites of programs, from core
// files with paths in stack frames, from both, or from recordings of calls.
struct LabelledEvidence {
  std::unique_ptr<const IsolationInput> input;  // what the predicates are of
  std::unique_ptr<const PredicateSet> predicates;
  std::vector<isolation::LabelledRun> runs;
  std::vector<size_t> report_of_run;  // number in input->reports
  std::vector<double> first_true;     // IsolationOptions::first_true
  // Runs whose report is missing, empty or unreadable, and that left no core file.
  uint64_t without_report = 0;
  uint64_t unresolved = 0;           // reports of another program
  std::string_view note;             // why nothing was observed; empty: something was
  bool passed_deny_nothing = false;  // as RecordingEvidence
  bool passed_have_lines = false;    // as RecordingEvidence
  ProblemLog problems;
};

// Runs without evidence, by label: those of without_report and unresolved.
struct RunsLeftOut {
  uint64_t failing = 0;
  uint64_t successful = 0;
};
RunsLeftOut runs_left_out(const LabelledEvidence& evidence);

// Adds the evidence of path files to that of the reports, if there is any. `numbers`: of each
// recording that was read, in input->reports. REQUIRES: evidence.input.
void add_path_evidence(RecordingEvidence read, const std::vector<size_t>& numbers,
                       LabelledEvidence& evidence);

// Reads on `workers` threads (0: all cores). Errors: those of find_isolation_input; usage, if there
// is no site information and the runs left no recordings of calls.
Result<LabelledEvidence> read_labelled_evidence(const IsolationSources& sources, size_t workers);

}  // namespace telltale::cli
