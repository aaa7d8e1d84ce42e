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

// Environment variables for the programs of a run. A command may start several: they append to one
// report, and each writes a core file of its own, of which keep_paths() keeps one. Removes what an
// interrupted run left. Errors: io.
Result<std::vector<std::pair<std::string, std::string>>> evidence_environment(
    const StudyRun& run, const RunEvidence& files);

// After a run, whose row has its label: of the core files, the latest that tells why the run ended
// as it did becomes `paths`: in runs that failed or that a signal ended one of a crash, in others
// one of a program that called exit(); if there is none, the latest. Errors: io.
Result<void> keep_paths(const StudyRun& run, const std::string& paths);

}  // namespace telltale::cli
