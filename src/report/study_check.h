#pragma once

#include <string>

#include "base/error.h"
#include "import/file_check.h"
#include "import/open_options.h"

namespace telltale {

// Checks all files of a study as `check` does each of them: its lists of runs and stacks, site
// tables, reports and core files. `damage` has what is wrong with each, and reports and stacks that
// belong to no run. REQUIRES: is_study(folder). Errors: io; bad_magic, if its list of runs is none.
Result<FileCheck> check_study(const std::string& folder, const OpenOptions& options);

}  // namespace telltale
