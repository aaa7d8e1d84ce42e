#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/study/job_runner.h"
#include "import/study.h"

namespace telltale::cli {

// A program that reads one input a run: the file that takes the place of @@ in an argument;
// without one, its standard input.
struct InputProgram {
  std::vector<std::string> command;
  std::string build;  // of the rows
  double timeout_seconds = 0;
  std::string label_command;  // for sh; empty: a run fails by a signal or a timeout
  uint64_t sparsity = 1;
  uint64_t seed = 0;  // of run 0; run n has seed + n
  size_t parallel = 1;
};

struct InputRun {
  uint64_t number = 0;
  std::string input;   // file
  std::string report;  // file to write
  // File of its paths to write, of programs with path tracing or coverage; empty: none.
  std::string paths = {};
};

// A run has ended. An error ends all.
using InputRunDone = std::function<Result<void>(const StudyRun& row, const InputRun& run)>;

// Runs the program on each input, without output. Sanitizers get options to abort, so that
// their findings are signals, unless the environment has options for them. Errors: those of
// run_jobs, and of the label command.
Result<JobsEnd> run_inputs(const InputProgram& program, std::span<const InputRun> runs,
                           const InputRunDone& done, int& start_failure);

}  // namespace telltale::cli
