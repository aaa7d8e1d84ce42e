#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "bytes/cursor.h"

namespace telltale {

// Writes all bytes to a file descriptor, also if signals interrupt it. Errors: io; `what` failed on
// `path`. A part may have been written.
Result<void> write_all(int file, Bytes bytes, const std::string& path,
                       std::string_view what = "cannot write");

}  // namespace telltale
