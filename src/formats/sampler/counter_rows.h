#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::sampler {

// The result of reading a section's rows.
struct RowTally {
  uint64_t rows = 0;  // lines, good or bad
  // Rows without the scheme's numbers; they do not change the sums. By number, from 0.
  std::vector<uint64_t> bad_rows;
  uint64_t first_bad = 0;  // offset of the first one in the body
  uint64_t unread = 0;     // rows after too many damaged ones, which are not read
  uint64_t saturated = 0;  // sums that would not fit 64 bits; they stay at the largest number
};

// Any number of rows; or the number of sites, if known.
constexpr uint64_t kAllRows = std::numeric_limits<uint64_t>::max();
// Limit for the values in a row of an unknown scheme.
constexpr size_t kMaxUnknownCounters = 64;

// Adds rows of `arity` unsigned decimal numbers, separated by tabs, to `sums`, which has arity
// numbers a row and grows with the rows. Rows after `max_rows` are counted and not read. `body`:
// whole lines, each with its line feed. REQUIRES: 1 <= arity <= kMaxUnknownCounters.
RowTally add_counters(std::string_view body, size_t arity, std::vector<uint64_t>& sums,
                      uint64_t max_rows = kAllRows);

// Sets a bit for each counter that is not 0, in `counted`, which has a number a row; bits that are
// set stay. Rows past its end are counted and not read. REQUIRES: 1 <= arity <= 16.
RowTally observe_counters(std::string_view body, size_t arity, std::span<uint16_t> counted);

// A number as printf formats the type of a bounds site: %d, %u and the like, or %p.
struct BoundValue {
  enum class Form : uint8_t { none, negative, unsigned_number, pointer };
  Form form = Form::none;
  uint64_t bits = 0;  // negative: two's complement

  bool operator==(const BoundValue&) const = default;
};
// Orders negative numbers first; pointers as numbers.
bool less(const BoundValue& a, const BoundValue& b);
std::optional<BoundValue> parse_bound(std::string_view text);
// In the format that was read: "(nil)" and "0x1f" for pointers.
std::string to_string(const BoundValue& value);

struct Bounds {
  BoundValue minimum;
  BoundValue maximum;

  // A site that was never reached has the largest number as minimum and the smallest as maximum.
  [[nodiscard]] bool observed() const {
    return minimum.form != BoundValue::Form::none && !less(maximum, minimum);
  }
  bool operator==(const Bounds&) const = default;
};
// Merges each row: the minimum of the minima and the maximum of the maxima.
RowTally merge_bounds(std::string_view body, std::vector<Bounds>& bounds,
                      uint64_t max_rows = kAllRows);

// Merges each row: the earliest (first) or the latest time; 0 is never.
RowTally merge_timestamps(std::string_view body, bool first, std::vector<uint64_t>& times,
                          uint64_t max_rows = kAllRows);

// The number of values in the first row; 0 without a row.
size_t columns_of_first_row(std::string_view body);

// An unsigned decimal number that fits 64 bits, without other characters.
std::optional<uint64_t> parse_unsigned(std::string_view text);

// Calls use(line without its line feed, offset in the body) for each.
template <typename Use>
void for_each_line(std::string_view body, Use use) {
  for (size_t at = 0; at < body.size();) {
    const size_t end = body.find('\n', at);
    const size_t stop = end == std::string_view::npos ? body.size() : end;
    use(body.substr(at, stop - at), at);
    at = stop + 1;
  }
}

}  // namespace telltale::sampler
