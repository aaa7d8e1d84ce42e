#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "import/study.h"

namespace telltale::cli {

// Files that the programs of a run are to write.
struct RunEvidence {
  std::string report;
  std::string paths;  // core file of a program with path tracing or coverage; empty: none
};

// Returns the environment variables for the programs of a run, and removes files of an interrupted
// run. A command may start several programs: they append to one report, but each writes its own
// core file, and keep_paths() chooses one of these. Errors: io.
Result<std::vector<std::pair<std::string, std::string>>> evidence_environment(
    const StudyRun& run, const RunEvidence& files);

// Call it after a run, when its label is known. Renames one of the run's core files to `paths` and
// removes the others. If the run failed or was ended by a signal, that is the latest core file of a
// crash, otherwise the latest of a program that called exit(); if there is none, the latest of all.
// Errors: io.
Result<void> keep_paths(const StudyRun& run, const std::string& paths);

}  // namespace telltale::cli
