#pragma once

#include <cstdint>
#include <vector>

#include "program/core_file.h"

namespace telltale {

// The files that a process had loaded, by the list that the dynamic loader keeps for debuggers, as
// far as memory has their ELF headers: for core files without NT_FILE, which qemu and older kernels
// write. A mapping for each segment. `name_address`: of the program's path (AT_EXECFN); 0: unknown.
// Empty if the address of the program's headers is unknown.
//
// Source: System V gABI, chapter 5, and r_debug and link_map of the C library's <link.h>.
std::vector<CoreMapping> loaded_files(const CoreFile& core, uint64_t name_address);

}  // namespace telltale
