#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace telltale {

// The readable form of a C++ linkage name according to LLVM's demangler; nothing if it cannot read
// the name, the readable form would be longer than `max_output` bytes, or it needs more than 16 MiB
// of memory. Its stack grows with the length of the name. Thread-safe.
std::optional<std::string> llvm_demangle(const char* linkage_name, size_t max_output);

}  // namespace telltale
