#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace telltale {

// Keeps the `count` elements that come first by `comes_first`, in that order. Takes much less time
// than sorting all if these are few. REQUIRES: comes_first is an order in which no two are equal,
// or which of the equal ones are kept does not matter.
template <typename T, typename ComesFirst>
void keep_first(std::vector<T>& all, size_t count, ComesFirst comes_first) {
  if (count < all.size()) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(all.begin(), end, all.end(), comes_first);
    all.erase(end, all.end());
  }
  std::ranges::sort(all, comes_first);
}

}  // namespace telltale
