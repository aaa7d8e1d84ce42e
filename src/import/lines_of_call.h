#pragma once

#include "analysis/paths/covered_lines.h"
#include "import/stack_paths.h"

namespace telltale {

// What a call on a stack ran, by file and line: by FramePaths::blocks and FramePaths::lines
// together. Of the block that it stopped in, lines after that place may not have run. Empty: the
// frame has neither.
CoveredLines lines_of_call(const FramePaths& frame);

// FramePaths::lines without what flags cannot say. They tell of whole blocks: where a block was
// left, or where the optimiser left no trace of a line, the answer is that of FramePaths::blocks.
CoveredLines lines_by_flags(const FramePaths& frame);

}  // namespace telltale
