#pragma once

#include "bytes/cursor.h"

namespace telltale {

// Populates the page table for those parts of a mapped file that are in the page cache, on all
// cores. Otherwise the thread that scans a file for its buffers, before the others get any, takes a
// page fault for every 64 KiB. Parts that are not in the page cache are left alone: they are read
// from disk when they are needed. Other memory than mapped files keeps its contents.
void map_resident(Bytes bytes);

}  // namespace telltale
