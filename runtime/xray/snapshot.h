#pragma once

#include <stdint.h>

#include "trace_file.h"

namespace telltale::recorder {

// telltale_xray_snapshot. Async-signal-safe.
int64_t write_snapshot(const char* path);
// The same in a process that crashes: no other snapshot starts from now on; one in progress is
// awaited, for a limited time.
void write_last_snapshot();
// A snapshot under the next free name after the pattern of the option `file`, which it returns in
// `path`; also of a recording that was stopped. False: nothing is recorded, another snapshot is in
// progress, or the file cannot be written.
bool write_named_snapshot(Path& path);
// Bytes of the recording so far: header and buffers, without unused space.
uint64_t recorded_bytes();

}  // namespace telltale::recorder
