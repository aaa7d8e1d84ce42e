// Tells from an object file whether it has path tracing.
#pragma once

#include <string>

namespace telltale::driver {

// Of an object file or an archive. False if it cannot be read, and for files of -flto, which do not
// have their sections yet.
bool is_traced_object(const std::string& path);

}  // namespace telltale::driver
