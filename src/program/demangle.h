#pragma once

#include <string>
#include <string_view>

namespace telltale {

// The readable form of a linkage name of C++ (Itanium ABI) or Rust (legacy or version 0). Returns
// the linkage name itself if it is neither, or longer than 16 KiB, or its readable form would be
// longer than 64 KiB. Safe on hostile names: time, stack and output are bounded. Thread-safe.
std::string demangle(std::string_view linkage_name);

}  // namespace telltale
