#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

// A basic block of machine code, without the padding after it. Link-time addresses.
struct MachineBlock {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool falls_through = false;  // control may continue in the next block
};

// In order of their beginnings, from LLVM's section .llvm_bb_addr_map
// (llvm.org/docs/Extensions.html): versions 2 to 5 of 64-bit programs, without profiles. What
// cannot be read goes to `problems`; it ends reading, since functions have no size.
std::vector<MachineBlock> read_machine_blocks(Bytes section, std::endian order,
                                              const std::string& file, uint64_t file_offset,
                                              ProblemLog& problems);

}  // namespace telltale
