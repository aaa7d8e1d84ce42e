#pragma once

#include <string>
#include <string_view>

namespace telltale {

// A path without parts "." and empty ones: clang names the header of #include "h.h" "/src/./h.h".
// ".." stays, because it may follow a link. Reads no folder.
std::string plain_path(std::string_view path);

}  // namespace telltale
