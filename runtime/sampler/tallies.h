#pragma once

#include <string.h>

#include "abi.h"

namespace telltale::sampler {

// Adds in one instruction, or atomically, so that a signal handler's increment is not lost. Tallies
// are not used with threads.
inline void add_uninterrupted(uint64_t& counter, uint64_t number) {
#ifdef __x86_64__
  asm("addq %1, %0" : "+m"(counter) : "r"(number) : "cc");
#else
  __atomic_fetch_add(&counter, number, __ATOMIC_RELAXED);
#endif
}

// Adds the tallies of `count` rows from `row` on to their counters, and clears them. A signal
// handler that interrupts this may count in the counters. If it reports and the program ends, the
// tally that was being added is counted twice, never lost.
inline void flush_tallies(uint64_t* counters, uint8_t* tallies, uint64_t rows, uint64_t row,
                          uint64_t count) {
  for (uint64_t i = row; i < row + count; ++i) {
    for (uint64_t slot = 0; slot < kPairCounters; ++slot) {
      uint8_t& tally = tallies[slot * rows + i];
      if (tally == 0) continue;
      add_uninterrupted(counters[i * kPairCounters + slot], tally);
      __atomic_store_n(&tally, 0, __ATOMIC_RELAXED);
    }
  }
}

// What is to be added to counter `slot` of row `row`; rows of the second bank follow those of the
// first. Unless `take` clears it, it stays there: if a signal handler reports, the code that it
// interrupted may write back what it has read.
inline uint8_t tally_of(const SchemeTable& scheme, uint64_t row, uint64_t slot, bool take) {
  if (scheme.tallies == nullptr) return 0;
  uint8_t& tally = scheme.tallies[slot * scheme.rows * scheme.banks + row];
  return take ? __atomic_exchange_n(&tally, uint8_t{0}, __ATOMIC_RELAXED)
              : __atomic_load_n(&tally, __ATOMIC_RELAXED);
}

inline void clear_tallies(const SchemeTable& scheme) {
  if (scheme.tallies == nullptr) return;
  ::memset(scheme.tallies, 0, uint64_t{kPairCounters + 1} * scheme.rows * scheme.banks);
}

}  // namespace telltale::sampler
