#pragma once

#include <stdint.h>

namespace telltale::recorder {

// Sets state.clock and state.sparse_interval by the options and what the processor has.
void choose_clock();
// Writes start, frequency and its uncertainty to the side record. May spin for a fifth of a
// millisecond. Async-signal-safe.
void start_clock();

// Measures the counter's frequency over the whole run so far, and tells it to trace and side record
// if that is better than what they have. Cheap when called often. Async-signal-safe.
void calibrate_now_and_then();
void calibrate();

// While the clock is sparse: the thread that ticks, until recording ends. Not async-signal-safe.
// False: no thread to be had.
bool start_ticking();

}  // namespace telltale::recorder
