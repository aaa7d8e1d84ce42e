// Subtracts several sites from a countdown.
#pragma once

#include <stdint.h>

namespace telltale::sampler {

// Returns the countdown after `units` sites. `next` is telltale_sampler_next or its like; `due`
// gets the index of each site that is observed. An unset countdown is due at once.
template <typename Next, typename Due>
int32_t skip_sites(int32_t countdown, uint32_t units, const Next& next, const Due& due) {
  constexpr int kHalf = 32;
  uint32_t index = 0;
  while (countdown <= static_cast<int32_t>(units - index)) {
    const int32_t passed = countdown > 1 ? countdown - 1 : 0;
    index += static_cast<uint32_t>(passed);
    countdown -= passed + 1;
    const uint64_t answer = next(countdown);
    countdown = static_cast<int32_t>(answer & UINT32_MAX);
    if (answer >> kHalf != 0) due(index);
    if (++index == units) return countdown;
  }
  return countdown - static_cast<int32_t>(units - index);
}

}  // namespace telltale::sampler
