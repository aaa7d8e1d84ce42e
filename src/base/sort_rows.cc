#include "base/sort_rows.h"

#include <algorithm>
#include <numeric>

namespace telltale {

std::vector<size_t> detail::stable_order(size_t count,
                                         bool (*less)(const void* context, size_t a, size_t b),
                                         const void* context) {
  size_t in_order = 1;
  while (in_order < count && !less(context, in_order, in_order - 1)) ++in_order;
  if (in_order >= count) return {};
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return less(context, a, b); });
  return order;
}

}  // namespace telltale
