#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/paths/function_coverage.h"
#include "base/problem.h"
#include "import/csi/flow_evidence.h"
#include "import/csi/program_metadata.h"
#include "import/stack_paths.h"
#include "program/core_file.h"
#include "program/core_stacks.h"

namespace telltale {

// The flags of coverage of all modules. Those that the core file does not have go to `problems`.
std::vector<FlaggedRecord> read_coverage_flags(const CoreFile& core, const std::string& core_name,
                                               const CoreStacks& stacks,
                                               const ProgramMetadata& metadata,
                                               ProblemLog& problems);

// What of the functions of all modules ran, by the flags of coverage in the memory of the process
// and by what is on its stacks; functions in the order of their names. Flags that the core file
// does not have go to `problems`.
std::vector<FunctionCoverage> read_core_coverage(const CoreFile& core, const std::string& core_name,
                                                 const CoreStacks& stacks,
                                                 const ProgramMetadata& metadata,
                                                 const std::vector<ThreadPaths>& threads,
                                                 ProblemLog& problems);

// The same without calls and blocks, and adds to the frames of `threads` which of their blocks ran,
// as add_frame_blocks(). Empty if it only repeats what is true of all runs of the program: there
// are no flags, and no frame is of a function that the program describes.
std::vector<FunctionCoverage> add_blocks_and_read_lines(
    const CoreFile& core, const std::string& core_name, const CoreStacks& stacks,
    const ProgramMetadata& metadata, std::vector<ThreadPaths>& threads, ProblemLog& problems);

}  // namespace telltale
