#pragma once

#include <cstddef>
#include <vector>

#include "bytes/cursor.h"
#include "program/core_file.h"

namespace telltale {

// Makes ranges of memory that adjoin one, so that numbers that lie in two of them can be read.
// If their bytes do not adjoin in `file`, too, all memory is copied: the result is what
// `parts.memory` refers to then, instead of `file`. Otherwise it is empty.
std::vector<std::byte> join_memory(Bytes file, CoreParts& parts);

}  // namespace telltale
