#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/core_file.h"

namespace telltale {

// The files that a process had loaded, by the list that the dynamic loader keeps for debuggers: for
// core files without NT_FILE, which qemu and older kernels write. A mapping for each segment, or
// for the segments of memory at the file's beginning if memory does not have its ELF headers; then
// only its first offset is known. `name_address`: of the program's path (AT_EXECFN); 0: unknown.
// Empty if the address of the program's headers is unknown.
//
// Source: System V gABI, chapter 5, and r_debug and link_map of the C library's <link.h>.
std::vector<CoreMapping> loaded_files(const CoreFile& core, uint64_t name_address);

// The libraries alone, for a program whose headers are not in memory. `dynamic`: its dynamic
// section's segment, `bias`: its address less link-time address, `loader`: the path of its dynamic
// loader, which the list has where the program has it.
std::vector<CoreMapping> loaded_libraries(const CoreFile& core, const ElfSegment& dynamic,
                                          uint64_t bias, const std::string& loader);

}  // namespace telltale
