#pragma once

#include <stdint.h>

namespace telltale::recorder {

// telltale_xray_snapshot. Async-signal-safe.
int64_t write_snapshot(const char* path);
// The same in a process that crashes: no other snapshot starts from now on; one in progress is
// awaited, for a limited time.
void write_last_snapshot();

}  // namespace telltale::recorder
