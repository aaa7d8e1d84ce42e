#pragma once

#include <stdint.h>

namespace telltale::recorder {

// telltale_xray_snapshot. Async-signal-safe.
int64_t write_snapshot(const char* path);
// The same in a process that crashes: no other is begun from now on, and one that is under way is
// waited for, but not for ever.
void write_last_snapshot();

}  // namespace telltale::recorder
