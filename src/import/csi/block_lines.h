#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/covered_lines.h"
#include "analysis/paths/program_flow.h"
#include "formats/csi/path_records.h"
#include "import/stack_paths.h"

namespace telltale {

// A line of a block, where it first comes.
struct LineHere {
  SourceLine line;
  uint32_t scope = 0;  // number
  uint32_t calls = 0;  // of the block, that come before
  size_t index = 0;    // of `line`, where the lines of a function are numbered
};

// The lines of each block. `places`: those of the record, or those that are lost.
std::vector<std::vector<LineHere>> lines_of(
    const csi::FlowRecord& record, const std::vector<csi::PathFunctionRecord::BlockLine>& places);

// Each once.
std::vector<SourceLine> without_repetitions(const std::vector<LineHere>& lines);

// The frames that may be in a block.
struct Stops {
  using Line = std::pair<std::string, uint32_t>;  // name of a file, without its folder, and number
  bool interrupted = false;  // one was stopped at an instruction, not in a call
  // Where interrupted frames were stopped that are certainly in the block: in the innermost
  // function that was inlined there, and in the function itself.
  std::set<std::pair<Line, Line>> places = {};
};

// Whether the frame of this index, or a function that was inlined there, was stopped at an
// instruction, not in a call.
bool is_interrupted(const std::vector<FramePaths>& frames, size_t index);

// Adds the place where the frame at `index` stopped to `stops` if is_interrupted() holds for it.
// `evidence`: of this frame, from the core file.
void add_stopped_frame(const std::vector<FramePaths>& frames, size_t index,
                       const ProgramEvidence::Frame& evidence, Stops& stops);

// What is known of a block.
struct BlockAnswer {
  Ran ran = Ran::maybe;
  ProgramBlocks::Progress progress = {};
  Stops stops = {};
};

// Whether control came to the lines of a block, in their order.
std::vector<Ran> lines_ran(const std::vector<LineHere>& lines, const BlockAnswer& block);

}  // namespace telltale
