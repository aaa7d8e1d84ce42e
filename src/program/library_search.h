#pragma once

#include <span>
#include <string>

namespace telltale {

// The path of a library of which only the file name and the build-id (lower-case hex digits) are
// known, as in Crashpad's minidumps: looked for in `folders`, and in this system's folders of
// libraries. Empty: none of them has it.
std::string find_library(const std::string& name, const std::string& build_id,
                         std::span<const std::string> folders);

}  // namespace telltale
