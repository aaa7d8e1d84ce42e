#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <optional>

namespace telltale {

// Addresses of a function's code, [begin, end), link-time.
struct FunctionBounds {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The function at a link-time address, by the table of the program's unwind information
// (.eh_frame_hdr, Linux Standard Base, "Exception Frames"), which stripped programs have, too. None
// if the table does not have the address, or is not in the form that linkers write.
std::optional<FunctionBounds> find_unwind_function(Dwfl_Module* module, uint64_t address);

}  // namespace telltale
