#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace telltale {

// Maps ranges of numbers to values; where ranges overlap, the one that was set last wins. n ranges
// cost O(n log n) in total, however they overlap.
class RangeMap {
 public:
  // Maps [begin, end) to `value`; an empty range changes nothing.
  void set(uint64_t begin, uint64_t end, size_t value) {
    if (begin >= end) return;
    split_at(begin);
    split_at(end);
    ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
    ranges_[begin] = {end, value};
  }
  [[nodiscard]] std::optional<size_t> find(uint64_t number) const {
    const auto after = ranges_.upper_bound(number);
    if (after == ranges_.begin()) return std::nullopt;
    const Range& range = std::prev(after)->second;
    return number < range.end ? std::optional(range.value) : std::nullopt;
  }

 private:
  struct Range {
    uint64_t end;
    size_t value;
  };
  // Splits the range that contains `number`.
  void split_at(uint64_t number) {
    const auto after = ranges_.upper_bound(number);
    if (after == ranges_.begin()) return;
    const auto [begin, range] = *std::prev(after);
    if (begin == number || number >= range.end) return;
    ranges_[begin].end = number;
    ranges_[number] = range;
  }

  std::map<uint64_t, Range> ranges_;  // by begin; disjoint
};

}  // namespace telltale
