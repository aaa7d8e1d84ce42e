#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

// Link-time addresses at which machine blocks begin, ascending, from LLVM's section
// .llvm_bb_addr_map (llvm.org/docs/Extensions.html): versions 2 to 5 of 64-bit programs, one range
// a function. What cannot be read goes to `problems`; it ends reading, since functions have no
// size.
std::vector<uint64_t> read_machine_blocks(Bytes section, std::endian order, const std::string& file,
                                          uint64_t file_offset, ProblemLog& problems);

}  // namespace telltale
