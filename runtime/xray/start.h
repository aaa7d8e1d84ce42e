#pragma once

// Stops and starts recording while the program runs. Each start begins a new file, so that
// calls that are open at a stop end there, and a file has one set of filters. Not
// async-signal-safe; other threads may run, and may do the same.

#include "state.h"

namespace telltale::recorder {

// Finishes the file. From then on calls pass unrecorded. False: nothing is being recorded.
bool stop_recording();

enum class Started : uint8_t { yes, already, no };
// Records again, with the options that are in `state`. `no`: no file can be written; nothing is
// recorded. REQUIRES: recording was started before.
Started start_recording_again();

// Replaces the filters (functions, depth, min) by those in `options`. A recording ends, and another
// one with the new filters begins; in snapshot mode its events are written first. False: no file
// can be written; nothing is recorded from now on. REQUIRES: recording was started before.
bool change_filters(const Options& options);

}  // namespace telltale::recorder
