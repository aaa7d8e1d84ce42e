#pragma once

#include <cstdint>

namespace telltale {

// What a recorder adds to the time of a call that it records (docs/analysis/net-time.md), in
// picoseconds: a call costs about 20 ns, and a nanosecond more or less shows in the sum of many.
struct RecorderCost {
  uint64_t inside_ps = 0;   // between the two times of a call: it counts for the call itself
  uint64_t outside_ps = 0;  // before the first and after the second one: for its caller
  [[nodiscard]] constexpr bool known() const { return inside_ps != 0 || outside_ps != 0; }
  bool operator==(const RecorderCost&) const = default;
};

}  // namespace telltale
