#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/isolation/evidence.h"
#include "base/error.h"
#include "base/problem.h"
#include "import/predicate_set.h"
#include "import/recording.h"

namespace telltale {

// A run's recording, and whether the run failed.
struct RunRecording {
  std::string path;
  bool failed = false;
};
// Opens a recording; called from several threads. Errors: as open_recording().
using OpenRecording = std::function<Result<std::unique_ptr<const Recording>>(const RunRecording&)>;

// What recordings tell about runs. Functions are the same if their names are.
struct RecordingEvidence {
  std::unique_ptr<const PredicateSet> predicates;
  std::vector<isolation::LabelledRun> runs;  // in order; those whose recording could be read
  std::vector<size_t> recording_of_run;      // number in the list that was read
  uint64_t without_report = 0;               // recordings that could not be read
  // Of paths: there are runs that passed, but of nothing do they say that they did not do it, so
  // that no predicate can predict failure.
  bool passed_deny_nothing = false;
  bool passed_have_lines = false;  // though they say which lines ran
  ProblemLog problems;
};

}  // namespace telltale
