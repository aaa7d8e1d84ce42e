#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace telltale {

namespace detail {

// The numbers 0 to count - 1 in stable order by less(context, a, b); empty if they are in order.
std::vector<size_t> stable_order(size_t count,
                                 bool (*less)(const void* context, size_t a, size_t b),
                                 const void* context);
// The same by unsigned numbers: in time that grows with their number alone.
std::vector<size_t> stable_order(std::span<const uint64_t> keys);

// Applies an order from stable_order().
template <typename Row>
void put_in_order(std::span<Row> all, std::vector<size_t> order) {
  // Every cycle of the permutation: each element moves to its place.
  for (size_t begin = 0; begin < order.size(); ++begin) {
    if (order[begin] == begin) continue;
    Row held = std::move(all[begin]);
    size_t to = begin;
    for (size_t from = order[to]; from != begin; from = order[to]) {
      all[to] = std::move(all[from]);
      order[to] = to;
      to = from;
    }
    all[to] = std::move(held);
    order[to] = to;
  }
}

}  // namespace detail

// As std::ranges::stable_sort, for vectors and spans. The sort is compiled once, for numbers of
// elements: an instantiation of the standard's for each type took a tenth of telltale's code and of
// its compile time. Costs an indirect call a comparison, unless rows are sorted by an unsigned
// number in ascending order: not for what is sorted once per event.
template <typename Rows, typename Compare = std::ranges::less, typename Projection = std::identity>
void sort_rows(Rows&& rows, Compare compare = {}, Projection projection = {}) {
  const std::span all(rows);
  using Row = typename decltype(all)::element_type;
  using Key = std::remove_cvref_t<std::invoke_result_t<Projection&, const Row&>>;
  if constexpr (std::unsigned_integral<Key> && std::same_as<Compare, std::ranges::less>) {
    std::vector<uint64_t> keys;
    keys.reserve(all.size());
    for (const Row& row : all) keys.push_back(std::invoke(projection, row));
    detail::put_in_order(all, detail::stable_order(keys));
  } else {
    const auto less = [&](size_t a, size_t b) -> bool {
      return std::invoke(compare, std::invoke(projection, std::as_const(all[a])),
                         std::invoke(projection, std::as_const(all[b])));
    };
    detail::put_in_order(all, detail::stable_order(
                                  all.size(),
                                  [](const void* context, size_t a, size_t b) {
                                    return (*static_cast<decltype(&less)>(context))(a, b);
                                  },
                                  std::addressof(less)));
  }
}

}  // namespace telltale
