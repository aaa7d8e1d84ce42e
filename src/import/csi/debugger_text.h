#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "program/core_stacks.h"

namespace telltale {

// Stacks with variables as a debugger prints them: gdb's `backtrace full`, or `frame` and `info
// locals`; LLDB's `bt` and `frame variable`. A line that begins with #N or "frame #N" begins a
// frame; "NAME = VALUE" is a variable of the frame before if it is indented, otherwise of the
// selected one (docs/analysis/paths.md); other lines are ignored. Variables without a frame belong
// to one whose function is not known. Only `wanted` variables are read. What cannot be read
// goes to `problems`, with its offset. Safe on untrusted text.
std::vector<ThreadStack> read_debugger_text(std::string_view text, const std::string& name,
                                            std::span<const std::string> wanted,
                                            ProblemLog& problems);

}  // namespace telltale
