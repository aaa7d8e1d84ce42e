#pragma once

// The option `auto`: functions that are called often and last shortly are dropped, for the rest of
// the process. One in kClosingsASample buffers is read when its thread closes it; when a window of
// time is over, the functions that were called too often in it are dropped: the events of their
// later calls are left out (recorded_calls.h), and their entry sleds are deactivated (loader.h).

#include "cells.h"
#include "state.h"

namespace telltale::recorder {

// A bit for each function id, set: dropped. Null without the option.
extern uint32_t* dropped_functions TELLTALE_OURS;
// Raised before and after functions are dropped: odd while they are.
extern uint32_t drop_rounds TELLTALE_OURS;
inline uint32_t current_drop_rounds() { return __atomic_load_n(&drop_rounds, __ATOMIC_ACQUIRE); }

// REQUIRES: drops_functions().
inline bool is_dropped(uint32_t function) {
  return (dropped_functions[function >> 5] >> (function & 31) & 1) != 0;
}
// Whether the option is on.
inline bool drops_functions() {
  return dropped_functions != nullptr && state.options.auto_calls != 0;
}

// Reserves memory for the bits. False: there is none. Two threads must not call it at once.
bool prepare_dropping();

// The calling thread is about to close its buffer, whose records end at `tail`. Call with all
// signals blocked, `busy` set, and without the lock of `state`.
void count_frequent_functions(const Control& control, const Tail& tail, uint64_t now);

// For a forked child, whose parent's threads may have been in count_frequent_functions.
void reset_frequent_functions();

}  // namespace telltale::recorder
