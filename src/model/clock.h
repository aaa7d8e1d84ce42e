#pragma once

#include <cstdint>
#include <string>

namespace telltale {

// A point in time on a recording's own clock, or a duration. Analyses add and compare ticks, which
// is exact; only output is converted (Clock).
using Ticks = uint64_t;

// The clock of a recording.
struct Clock {
  std::string name = "ticks";     // what the ticks count, e.g. "TSC"
  uint64_t ticks_per_second = 0;  // 0: unknown; one tick is then shown as one nanosecond
  [[nodiscard]] bool known() const { return ticks_per_second != 0; }

  // Nanoseconds in `ticks`, rounded to nearest; saturates at the largest uint64_t. Exact for every
  // input (128-bit).
  [[nodiscard]] uint64_t to_ns(Ticks ticks) const;
  // The same, rounded down.
  [[nodiscard]] uint64_t to_whole_ns(Ticks ticks) const;
  // The same for sums that may exceed 64 bits, as a floating-point number of nanoseconds.
  [[nodiscard]] double to_ns_f(double ticks) const;
  // Ticks in `ns` nanoseconds, rounded to nearest; saturates.
  [[nodiscard]] Ticks from_ns(uint64_t ns) const;
};

}  // namespace telltale
