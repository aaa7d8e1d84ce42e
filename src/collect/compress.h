#pragma once

#include <string>

#include "bytes/cursor.h"

namespace telltale {

// The bytes as a gzip file, the same for the same bytes. Empty, if there is no memory for it.
std::string gzip(Bytes bytes);

}  // namespace telltale
