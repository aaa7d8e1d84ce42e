#pragma once

#include "base/problem.h"

namespace telltale::cli {

// Says on standard error which programs of a core file were not found, or are other builds now.
// Returns whether there are any: then nothing else explains an empty answer. Libraries of the
// system are left out.
bool tell_missing_programs(const ProblemLog& problems);

}  // namespace telltale::cli
