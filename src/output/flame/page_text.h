#pragma once

#include <string>
#include <string_view>

namespace telltale {

// JSON text for a script element: its three special characters and two line separators, which occur
// only inside strings, become escapes.
std::string json_for_script(const std::string& json);

// A line of source as a page shows it: tabs are blanks, characters that hide or reorder text are
// visible, and backslashes stay as they are.
std::string visible_source(std::string_view line);

}  // namespace telltale
