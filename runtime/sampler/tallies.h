#pragma once

#include <string.h>

#include "abi.h"

namespace telltale::sampler {

// Adds the tallies of `count` rows from `row` on to their counters, and clears them.
inline void flush_tallies(uint64_t* counters, uint8_t* tallies, uint64_t rows, uint64_t row,
                          uint64_t count) {
  for (uint64_t i = row; i < row + count; ++i) {
    for (uint64_t slot = 0; slot < kPairCounters; ++slot) {
      uint8_t& tally = tallies[slot * rows + i];
      if (tally == 0) continue;
      counters[i * kPairCounters + slot] += tally;
      tally = 0;
    }
  }
}

inline void flush_all_tallies(const SchemeTable& scheme) {
  if (scheme.tallies == nullptr) return;
  const uint64_t rows = uint64_t{scheme.rows} * scheme.banks;
  flush_tallies(scheme.counters, scheme.tallies, rows, 0, rows);
  ::memset(scheme.tallies + kPairCounters * rows, 0, rows);
}

inline void clear_tallies(const SchemeTable& scheme) {
  if (scheme.tallies == nullptr) return;
  ::memset(scheme.tallies, 0, uint64_t{kPairCounters + 1} * scheme.rows * scheme.banks);
}

}  // namespace telltale::sampler
