#pragma once

#include <string>
#include <string_view>

namespace telltale {

// The name as a programmer writes it, of a linkage name of C++ (Itanium ABI) or Rust (legacy or
// version 0); the linkage name itself when it is of neither kind, or longer than 16 KiB, or its
// readable form would be longer than 64 KiB. Safe on hostile names: time, stack and output are
// bounded. Safe to call from several threads.
std::string demangle(std::string_view linkage_name);

}  // namespace telltale
