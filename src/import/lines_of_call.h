#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "import/stack_paths.h"

namespace telltale {

// What a call on a stack ran, by file and line: by FramePaths::blocks and FramePaths::lines
// together. Of the block that it stopped in, lines after that place may not have run. Empty: the
// frame has neither.
std::map<std::pair<std::string, uint32_t>, Ran> lines_of_call(const FramePaths& frame);

}  // namespace telltale
