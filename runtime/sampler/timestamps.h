// -ftimestamp-first, -ftimestamp-last: when a site was first and last observed.
#pragma once

#include "abi.h"

namespace telltale::sampler {

// `first` and `last` are the tables of the site's scheme, or null.
inline void record_timestamp(uint64_t* first, uint64_t* last, uint64_t row) {
  if (first == nullptr && last == nullptr) return;
  const uint64_t now = telltale_sampler_tick();
  uint64_t never = 0;
  if (last != nullptr) __atomic_store_n(&last[row], now, __ATOMIC_RELAXED);
  if (first != nullptr)
    __atomic_compare_exchange_n(&first[row], &never, now, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

}  // namespace telltale::sampler
