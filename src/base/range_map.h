#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace telltale {

// Ranges of numbers and what each stands for; where ranges overlap the last one that was set
// counts. n ranges cost O(n log n) together, however they overlap.
class RangeMap {
 public:
  // [begin, end) stands for `value`; an empty range changes nothing.
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
  // Makes two of the range that holds `number` inside.
  void split_at(uint64_t number) {
    const auto after = ranges_.upper_bound(number);
    if (after == ranges_.begin()) return;
    const auto [begin, range] = *std::prev(after);
    if (begin == number || number >= range.end) return;
    ranges_[begin].end = number;
    ranges_[number] = range;
  }

  std::map<uint64_t, Range> ranges_;  // by begin; they do not overlap
};

}  // namespace telltale
