#pragma once

#include <string>
#include <string_view>

namespace telltale::cli {

// The version of this telltale, such as "0.1.0".
std::string_view version_number();

// What `telltale --version` prints: the version, the commit that was built ("modified" if the
// sources differ from it, "unknown" outside of a checkout), the build type and the compiler.
std::string version_text();

}  // namespace telltale::cli
