// The texts of --help and of the manual page, from the table of options.
#pragma once

#include <string>
#include <vector>

namespace telltale::driver {

// Options that the drivers handle themselves.
inline constexpr const char* kHelp = "--help";
inline constexpr const char* kPrintManual = "--print-manual";

// One line for each option and scheme.
std::string help_text();
// The manual page in roff with the man(7) macros.
std::string manual_page();

}  // namespace telltale::driver
