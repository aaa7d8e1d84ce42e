// Sums that stop at the largest number. The compiler plugin includes this header: the standard
// library alone.
#pragma once

#include <cstdint>
#include <limits>

namespace telltale {

inline constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();

// a + b; kSaturated if that does not fit.
constexpr std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) {
  return a > kSaturated - b ? kSaturated : a + b;
}

}  // namespace telltale
