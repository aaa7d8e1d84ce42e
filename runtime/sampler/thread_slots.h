// Which thread counts in which copy of the counters (kThreadSlots). Each copy of the runtime has
// its own table, for the units of its module.
#pragma once

#include <stdint.h>

#include "row_cursor.h"

namespace telltale::sampler {

// The unit is of this module, and may have copies of its counters. Gives a slot to the main thread.
void use_thread_slots(UnitDescriptor& unit);

// Gives the calling thread, which just started, a slot until it ends. Without one, because others
// have them all, it shares the first copy.
void claim_thread_slot();

// Do threads have a part of the scheme's counts of their own?
inline bool is_in_thread_slots(const SchemeTable& scheme) {
  return scheme.copy_stride != 0 || scheme.tally_stride != 0;
}

// The slots that threads of the unit's module have had, as bits. Reports read no others: memory
// that no thread has written to would become resident.
inline uint32_t used_slots(const UnitDescriptor& unit) {
  return __atomic_load_n(unit.used_slots, __ATOMIC_ACQUIRE);
}

// The numbers of a site of such a scheme, summed over all threads, without what was taken before.
// `numbers` has room for all of the site.
//
// A thread's copies are written by that thread alone, without a lock, so nobody else can reset
// them: what was taken is written down instead. Both are atomic, but counts are read one after the
// other. If a thread stays at adding tallies to their counters, because it was interrupted, up to
// 255 may be counted twice, until a later report.
void count_in_thread_slots(const RowCursor& row, uint32_t slots, bool take, uint64_t* numbers);

// What was counted so far will not be reported.
void reset_thread_slots(const SchemeTable& scheme, uint32_t slots);

// In the child of a fork: tallies of threads that it does not have are never added up.
void forget_tallies_of_threads(const SchemeTable& scheme, uint32_t slots);

}  // namespace telltale::sampler
