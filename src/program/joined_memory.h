#pragma once

#include <cstddef>
#include <vector>

#include "bytes/cursor.h"
#include "program/core_file.h"

namespace telltale {

// CoreFile reads numbers across two ranges of memory if these are next to each other in the file,
// too. If adjacent ranges of `parts.memory` are not, copies all memory in the order of its
// addresses: `parts.memory` then refers to the result instead of `file`. Otherwise the result is
// empty, and `parts` stays as it is.
std::vector<std::byte> join_memory(Bytes file, CoreParts& parts);

}  // namespace telltale
