#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telltale {

// The code of a program for `machine` (EM_*) at the link-time addresses [begin, end), which is in
// one section. Empty: the file cannot be read, does not have it, or is for another machine.
std::vector<uint8_t> read_program_code(const std::string& path, uint16_t machine, uint64_t begin,
                                       uint64_t end);

// Whether the link-time address is in a procedure linkage table: code of the linker that jumps to a
// function of another object. False if the file cannot be read.
bool is_in_linkage_table(const std::string& path, uint64_t address);

}  // namespace telltale
