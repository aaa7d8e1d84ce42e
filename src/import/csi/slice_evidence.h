#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/csi/core_coverage.h"
#include "import/csi/flow_evidence.h"
#include "import/csi/frame_decoder.h"
#include "import/program_slice.h"
#include "import/stack_paths.h"
#include "program/core_file.h"
#include "program/core_stacks.h"

namespace telltale {

// The slice from where threads[thread] stopped. Completes the data flow of `modules`.
ProgramSlice slice_of_thread(const CoreFile& core, const CoreStacks& stacks,
                             std::map<std::string, ModulePaths>& modules,
                             const std::vector<FlaggedRecord>& flags,
                             const std::vector<ThreadPaths>& threads, size_t thread);

}  // namespace telltale
