// Which thread counts in which copy of the counters (kThreadSlots). Each copy of the runtime has
// its own table, for the units of its module.
#pragma once

#include <stdint.h>

#include "abi.h"

namespace telltale::sampler {

// A unit of this module has copies of its counters. Gives one to the main thread.
void use_thread_slots();

// Gives the calling thread, which just started, a slot until it ends. Without one, because others
// have them all, it shares the first copy.
void claim_thread_slot();

// The first copy is not part of these. `index` is that of a counter in its scheme.
//
// A thread's copy is written by that thread alone, without a lock, so nobody else can reset it:
// what was taken is written down instead. Both are atomic, but copies are read one after the other.
uint64_t count_in_thread_slots(const SchemeTable& scheme, uint64_t index, bool take);

}  // namespace telltale::sampler
