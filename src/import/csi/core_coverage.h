#pragma once

#include <string>
#include <vector>

#include "analysis/paths/function_coverage.h"
#include "base/problem.h"
#include "import/stack_paths.h"
#include "program/core_file.h"
#include "program/core_stacks.h"

namespace telltale {

// The coverage of functions that were built with FC, CC or BBC, by the flags in the memory of the
// process and by what is on its stacks; functions in the order of their names. Flags that the core
// file does not have go to `problems`.
std::vector<FunctionCoverage> read_core_coverage(const CoreFile& core, const std::string& core_name,
                                                 const CoreStacks& stacks,
                                                 const std::vector<ThreadPaths>& threads,
                                                 ProblemLog& problems);

}  // namespace telltale
