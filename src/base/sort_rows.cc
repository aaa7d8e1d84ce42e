#include "base/sort_rows.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace telltale {
namespace {

struct Keyed {
  uint64_t key = 0;
  size_t row = 0;
};

// Stable, by one byte of the keys. REQUIRES: both have the same size.
void sort_by_byte(std::span<const Keyed> from, std::span<Keyed> to, unsigned shift) {
  const auto byte_of = [shift](const Keyed& one) { return one.key >> shift & 0xFF; };
  std::array<size_t, 256> places{};
  for (const Keyed& one : from) ++places[byte_of(one)];
  std::exclusive_scan(places.begin(), places.end(), places.begin(), size_t{0});
  for (const Keyed& one : from) to[places[byte_of(one)]++] = one;
}

}  // namespace

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

std::vector<size_t> detail::stable_order(std::span<const uint64_t> keys) {
  if (std::ranges::is_sorted(keys)) return {};
  std::vector<Keyed> rows;
  rows.reserve(keys.size());
  uint64_t differences = 0;  // bits in which the keys differ
  for (size_t i = 0; i < keys.size(); ++i) {
    rows.push_back({keys[i], i});
    differences |= keys[i] ^ keys[0];
  }
  constexpr size_t kFew = 256;  // sorted faster by comparison
  if (rows.size() < kFew) {
    std::ranges::sort(rows, [](const Keyed& a, const Keyed& b) {
      return a.key != b.key ? a.key < b.key : a.row < b.row;
    });
  } else {
    std::vector<Keyed> room(rows.size());
    for (unsigned shift = 0; shift < 64; shift += 8) {
      if ((differences >> shift & 0xFF) == 0) continue;
      sort_by_byte(rows, room, shift);
      rows.swap(room);
    }
  }
  std::vector<size_t> order(rows.size());
  std::ranges::transform(rows, order.begin(), &Keyed::row);
  return order;
}

}  // namespace telltale
