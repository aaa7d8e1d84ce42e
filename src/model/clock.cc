#include "model/clock.h"

#include <limits>

namespace telltale {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

__extension__ using Wide = unsigned __int128;

// `rounding` is added before the division.
uint64_t scale(uint64_t value, uint64_t numerator, uint64_t denominator, uint64_t rounding) {
  const Wide scaled = (Wide{value} * numerator + rounding) / denominator;
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  return scaled > kMax ? kMax : static_cast<uint64_t>(scaled);
}

}  // namespace

uint64_t Clock::to_ns(Ticks ticks) const {
  if (!known() || ticks_per_second == kNsPerSecond) return ticks;
  return scale(ticks, kNsPerSecond, ticks_per_second, ticks_per_second / 2);
}

uint64_t Clock::to_whole_ns(Ticks ticks) const {
  if (!known() || ticks_per_second == kNsPerSecond) return ticks;
  return scale(ticks, kNsPerSecond, ticks_per_second, 0);
}

double Clock::to_ns_f(double ticks) const {
  return known() ? ticks * (1e9 / static_cast<double>(ticks_per_second)) : ticks;
}

Ticks Clock::from_ns(uint64_t ns) const {
  return known() ? scale(ns, ticks_per_second, kNsPerSecond, kNsPerSecond / 2) : ns;
}

}  // namespace telltale
