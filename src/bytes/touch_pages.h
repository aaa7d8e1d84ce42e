#pragma once

#include "bytes/cursor.h"

namespace telltale {

// Reads a byte here and there, on all cores, so that the pages of a mapped file are present. What
// walks a file from header to header on one core would wait for them one after the other.
void touch_pages(Bytes bytes);

}  // namespace telltale
