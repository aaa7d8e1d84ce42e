#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/isolation/evidence.h"
#include "base/error.h"
#include "base/problem.h"
#include "import/predicate_set.h"
#include "import/recording.h"

namespace telltale {

// A run's recording with timed calls, and whether the run failed.
struct RunRecording {
  std::string path;
  bool failed = false;
};
// Opens a recording; called from several threads. Errors: as open_recording().
using OpenRecording = std::function<Result<std::unique_ptr<const Recording>>(const RunRecording&)>;

// What recordings of calls tell about runs. Functions are the same if their names are.
struct CallEvidence {
  std::unique_ptr<const PredicateSet> predicates;
  std::vector<isolation::LabelledRun> runs;  // in order; those whose recording could be read
  std::vector<size_t> recording_of_run;      // number in the list that was read
  uint64_t without_report = 0;               // recordings that could not be read
  ProblemLog problems;
};

// Reads recordings on `workers` threads (0: all cores), with the same answer for any number.
// Predicates: a function was called; it was called more than n times; one of its calls took longer
// than t. n and t are found in the data (isolation::best_threshold). Errors: usage, if a recording
// has no timed calls.
Result<CallEvidence> read_call_evidence(std::span<const RunRecording> recordings,
                                        const OpenRecording& open, size_t workers);

}  // namespace telltale
