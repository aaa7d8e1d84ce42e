#pragma once

#include <stdint.h>

namespace telltale::recorder {

// telltale_xray_snapshot. Async-signal-safe.
int64_t write_snapshot(const char* path);

}  // namespace telltale::recorder
