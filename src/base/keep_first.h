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

// Keeps, in any order, the `count` elements that come first by `comes_first`, and those that are
// equal to the last of these: candidates for keep_first() by an order that takes longer to compare.
template <typename T, typename ComesFirst>
void keep_first_and_ties(std::vector<T>& all, size_t count, ComesFirst comes_first) {
  if (count == 0) all.clear();
  if (count >= all.size()) return;
  const auto last = all.begin() + static_cast<std::ptrdiff_t>(count) - 1;
  std::nth_element(all.begin(), last, all.end(), comes_first);
  const T limit = *last;
  all.erase(
      std::partition(last + 1, all.end(), [&](const T& one) { return !comes_first(limit, one); }),
      all.end());
}

}  // namespace telltale
