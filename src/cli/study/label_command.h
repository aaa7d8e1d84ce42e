#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "import/study.h"

namespace telltale::cli {

// A command that labels runs, as `git bisect run` asks for one: its exit status is 0 for a run that
// passed, 125 for one to be skipped, and another one below 126 for a run that failed.

// What it finds in its environment about the run.
std::vector<std::pair<std::string, std::string>> label_environment(const StudyRun& run,
                                                                   const std::string& report);
// `wait_status`: as of waitpid(2). Errors: bad_field, if the command could not be run or was
// killed.
Result<RunLabel> label_of(const std::string& command, int wait_status);

}  // namespace telltale::cli
