#pragma once

#include <vector>

#include "import/csi/core_coverage.h"
#include "import/csi/flow_evidence.h"
#include "import/csi/program_metadata.h"
#include "import/program_slice.h"
#include "import/stack_paths.h"
#include "program/core_file.h"

namespace telltale {

// The slice from where threads[thread] stopped. Completes the data flow of `metadata`, which has
// it.
ProgramSlice slice_of_thread(const CoreFile& core, ProgramMetadata& metadata,
                             const std::vector<FlaggedRecord>& flags,
                             const std::vector<ThreadPaths>& threads, size_t thread);

}  // namespace telltale
