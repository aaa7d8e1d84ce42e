#pragma once

#include <vector>

#include "analysis/paths/function_coverage.h"
#include "import/csi/flow_evidence.h"
#include "import/csi/lines_of_copies.h"
#include "import/csi/program_metadata.h"
#include "import/stack_paths.h"
#include "program/core_file.h"

namespace telltale {

// Adds to the frames of `threads` which of their blocks ran: by stacks, paths and flags of the
// whole process together.
void add_frame_blocks(const CoreFile& core, const ProgramMetadata& metadata,
                      const std::vector<FlaggedRecord>& flags, std::vector<ThreadPaths>& threads);

// What certainly ran, certainly did not, or may have run, of all functions that say which blocks
// and calls they have: by stacks, paths and flags together. Adds it to `functions`, which has those
// with coverage; others are appended, also those that are only inlined. Then copies of one function
// are joined. Of `source_lines`, they have the answers where they were inlined; what their own code
// says is in `lines`, and is to be joined. Returns the lines of which no block may have run, but
// which may have run all the same (LinesOfCopies).
SourceLineSet add_program_blocks(const CoreFile& core, const ProgramMetadata& metadata,
                                 const std::vector<ThreadPaths>& threads,
                                 const std::vector<FlaggedRecord>& flags,
                                 std::vector<FunctionCoverage>& functions);

}  // namespace telltale
