#pragma once

#include <cstdint>

#include "model/clock.h"

namespace telltale {

// Clock::to_ns without its 128-bit division, for the inner loops of exports: the same result for
// every input, by a multiplication with the reciprocal and a correction.
class NsConverter {
 public:
  explicit NsConverter(const Clock& clock)
      : clock_(clock),
        frequency_(clock.known() ? clock.ticks_per_second : kNs),
        half_(frequency_ / 2 + frequency_ % 2) {
    // kNs = whole_ * frequency + rest; fraction_ is rest / frequency in 64 binary digits, rounded
    // down.
    whole_ = kNs / frequency_;
    fraction_ = reciprocal(kNs % frequency_, frequency_);
    // Below the limit the result fits 64 bits, and rounding down twice makes the estimate at most
    // one too small.
    if (frequency_ < (uint64_t{1} << 62)) limit_ = (uint64_t{1} << 63) / (whole_ + 1);
  }

  [[nodiscard]] uint64_t operator()(Ticks ticks) const {
    if (ticks >= limit_) [[unlikely]]
      return clock_.to_ns(ticks);
    uint64_t ns = ticks * whole_ + high_product(ticks, fraction_);
    uint64_t rest = ticks * kNs - ns * frequency_;  // modulo 2^64: the true rest is small
    if (rest >= frequency_) {
      rest -= frequency_;
      ++ns;
    }
    return ns + static_cast<uint64_t>(rest >= half_);
  }

 private:
  static constexpr uint64_t kNs = 1'000'000'000;
  __extension__ using Wide = unsigned __int128;
  static uint64_t reciprocal(uint64_t numerator, uint64_t denominator) {
    return static_cast<uint64_t>((static_cast<Wide>(numerator) << 64) / denominator);
  }
  static uint64_t high_product(uint64_t a, uint64_t b) {
    return static_cast<uint64_t>((static_cast<Wide>(a) * b) >> 64);
  }

  Clock clock_;
  uint64_t frequency_;
  uint64_t half_;
  uint64_t whole_ = 0;
  uint64_t fraction_ = 0;
  uint64_t limit_ = 0;  // the slow path is used from here on
};

}  // namespace telltale
