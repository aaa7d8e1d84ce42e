#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/paths/function_coverage.h"
#include "analysis/paths/program_flow.h"
#include "import/csi/flow_evidence.h"
#include "import/csi/lines_of_copies.h"
#include "import/csi/program_answers.h"
#include "import/csi/program_metadata.h"
#include "import/stack_paths.h"
#include "program/core_file.h"

namespace telltale {

// What stacks, paths and flags of a process say of the blocks of its programs.
struct FoundEvidence {
  ProgramEvidence known;
  std::vector<std::vector<size_t>> frame_indices;  // FlowEvidence::frame_indices()
};
// None: the programs do not say which blocks they have.
std::optional<FoundEvidence> find_evidence(const CoreFile& core, const ProgramMetadata& metadata,
                                           const std::vector<ThreadPaths>& threads,
                                           const std::vector<FlaggedRecord>& flags);

// The evidence, and which blocks ran according to it.
struct KnownBlocks : FoundEvidence {
  ProgramBlocks ran;
};
KnownBlocks blocks_of(const ProgramMetadata& metadata, FoundEvidence evidence);

// Adds to the frames of `threads` which of their blocks ran. `ran`: blocks_of_frames().
void add_frame_blocks(const ProgramMetadata& metadata, const FoundEvidence& evidence,
                      const std::vector<std::vector<ProgramBlocks::Frame>>& ran,
                      std::vector<ThreadPaths>& threads);
// The same for frames alone.
void add_frame_blocks(const CoreFile& core, const ProgramMetadata& metadata,
                      const std::vector<FlaggedRecord>& flags, std::vector<ThreadPaths>& threads);

// What certainly ran, certainly did not, or may have run, of all functions that say which blocks
// and calls they have: by stacks, paths and flags together. Adds it to `functions`, which has those
// with coverage; others are appended, also those that are only inlined. Then copies of one function
// are joined. Of `source_lines`, they have the answers where they were inlined; what their own code
// says is in `lines`, and is to be joined. Returns the lines of which no block may have run, but
// which may have run all the same (LinesOfCopies).
SourceLineSet add_program_blocks(const ProgramMetadata& metadata, const KnownBlocks& blocks,
                                 const std::vector<ThreadPaths>& threads, Detail detail,
                                 std::vector<FunctionCoverage>& functions);

}  // namespace telltale
