#pragma once

#include <stdint.h>

namespace telltale::recorder {

// Sets state.clock and state.sparse_interval from the options and the processor's features.
void choose_clock();
// Writes start, frequency and its uncertainty to the side record. May spin for a fifth of a
// millisecond. Async-signal-safe.
void start_clock();

// Measures the counter's frequency over the whole run so far, and updates the trace and the side
// record if the result is more precise than theirs. Cheap when called often. Async-signal-safe.
void calibrate_now_and_then();
void calibrate();

// With a sparse clock: starts the timer thread, which runs until recording ends. Not
// async-signal-safe. False: no thread could be created.
bool start_ticking();

}  // namespace telltale::recorder
