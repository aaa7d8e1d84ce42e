#pragma once

#include <vector>

#include "model/clock.h"

namespace telltale {

// The smallest value that at least `percent` % of all are not above (nearest rank). REQUIRES:
// sorted, not empty; 0 < percent <= 100.
inline Ticks percentile(const std::vector<Ticks>& sorted, unsigned percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

}  // namespace telltale
