#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "import/study.h"

namespace telltale::cli {

// A command that labels runs by the rules of `git bisect run`: exit status 0 means passed, 125
// skipped, any other below 126 failed.

// The description of the run in its environment.
std::vector<std::pair<std::string, std::string>> label_environment(const StudyRun& run,
                                                                   const std::string& report);
// `wait_status`: as of waitpid(2). Errors: bad_field, if the command could not be run or was
// killed.
Result<RunLabel> label_of(const std::string& command, int wait_status);

}  // namespace telltale::cli
