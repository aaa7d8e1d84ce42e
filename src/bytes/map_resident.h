#pragma once

#include "bytes/cursor.h"

namespace telltale {

// Maps the pages of a mapped file that are in memory, on all cores. Otherwise a page fault maps 64
// KiB each time, which takes longer; and whoever looks at the headers of a file's buffers, before
// threads share the work, takes all these faults. Pages that are not in memory are left alone: they
// are read when they are needed. Without effect on bytes that are not mapped from a file.
void map_resident(Bytes bytes);

}  // namespace telltale
