// What the drivers say about themselves, from the table of options.
#pragma once

#include <string>
#include <vector>

namespace telltale::driver {

// Options that the drivers answer by themselves.
inline constexpr const char* kHelp = "--help";
inline constexpr const char* kPrintManual = "--print-manual";

// For `--help`: every option and scheme with one line.
std::string help_text();
// The manual page in roff with the man(7) macros.
std::string manual_page();

}  // namespace telltale::driver
