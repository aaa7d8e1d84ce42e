#pragma once

#include "analysis/paths/covered_lines.h"
#include "import/stack_paths.h"

namespace telltale {

// What a call on a stack ran, by file and line: by FramePaths::blocks and FramePaths::lines
// together. Of the block that it stopped in, lines after that place may not have run. Empty: the
// frame has neither.
CoveredLines lines_of_call(const FramePaths& frame);

}  // namespace telltale
