#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/paths/slice.h"

namespace telltale {

// The lines that may have made a thread stop as it did. Text is never trusted.
struct ProgramSlice {
  struct Reason {
    Slice::Why why = Slice::Why::stopped;
    std::string name;      // what is defined or passed, or which function is called
    std::string function;  // of the line that needs it, if it is not that of this line
    uint32_t line = 0;     // that line; 0: unknown
    bool operator==(const Reason&) const = default;
  };
  struct Line {
    std::optional<size_t> frame;  // number in the stack; none: in calls that have returned
    std::string function;         // demangled
    std::string file;
    uint32_t line = 0;
    uint32_t distance = 0;  // dependences between it and the stop, at least
    std::vector<Reason> reasons;
  };
  std::vector<Line> lines;  // the nearest first
  // Blocks with a step of the slice, and how many the slice of the stack alone has, which ignores
  // what did not run. A block of a function on the stack counts for each frame.
  size_t blocks = 0;
  size_t static_blocks = 0;
  size_t static_lines = 0;
  std::vector<std::string> notes;  // what was assumed; sentences without a full stop
  std::string missing;             // why there is none; empty: there is one
};

}  // namespace telltale
