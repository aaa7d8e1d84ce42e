#pragma once

#include <string>

namespace telltale {

// "999 bytes", "1.234 KiB", "12.35 MiB": four significant digits.
std::string show_bytes(double bytes);
// "999 ns", "1.234 us", "12.35 ms", "1.5 s": four significant digits, rounded to nearest.
std::string show_duration(double ns);

}  // namespace telltale
