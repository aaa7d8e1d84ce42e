#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telltale {

// The code of an x86-64 program at the link-time addresses [begin, end), which is in one section.
// Empty: the file cannot be read, does not have it, or is for another machine.
std::vector<uint8_t> read_program_code(const std::string& path, uint64_t begin, uint64_t end);

}  // namespace telltale
