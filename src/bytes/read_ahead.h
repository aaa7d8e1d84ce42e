#pragma once

#include "bytes/cursor.h"

namespace telltale {

// Asks the system to have these bytes of a mapped file in memory soon, and returns at once: they
// are read while other bytes are worked on. Costs a microsecond a MiB that is in memory already,
// and for bytes that are not mapped from a file.
void read_ahead(Bytes bytes);

}  // namespace telltale
