// Geometrically distributed numbers from integer arithmetic: a draw is a table lookup and two
// multiplications, without floating point.
#pragma once

#include <stdint.h>

namespace telltale::sampler {

__extension__ using Wide = unsigned __int128;

// The binary logarithm of `mantissa` / 2^63, which is in [1, 2), in units of 2^-32. Repeated
// squaring yields one bit at a time.
constexpr uint64_t slow_log2(uint64_t mantissa) {
  constexpr int kBits = 32;
  uint64_t logarithm = 0;
  for (int i = 0; i < kBits; ++i) {
    const Wide square = static_cast<Wide>(mantissa) * mantissa;
    const auto high = static_cast<uint64_t>(square >> 64);
    const bool is_two = (high >> 63) != 0;
    logarithm = logarithm << 1 | (is_two ? 1 : 0);
    mantissa = is_two ? high : static_cast<uint64_t>(square >> 63);
  }
  return logarithm;
}

// Logarithms of 1, 1 + 1/256 ... 2.
struct Logarithms {
  static constexpr int kIndexBits = 8;
  uint64_t numbers[(1 << kIndexBits) + 1];
};
constexpr Logarithms tabulate_logarithms() {
  Logarithms table = {};
  constexpr uint64_t kCells = uint64_t{1} << Logarithms::kIndexBits;
  for (uint64_t i = 0; i < kCells; ++i)
    table.numbers[i] = slow_log2((kCells + i) << (63 - Logarithms::kIndexBits));
  table.numbers[kCells] = uint64_t{1} << 32;
  return table;
}
inline constexpr Logarithms kLogarithms = tabulate_logarithms();

// The number of steps up to and including the next chosen one, if each is chosen with probability 1
// / mean.
class Geometric {
 public:
  static constexpr int32_t kMost = 0x3fffffff;

  constexpr Geometric() = default;  // of mean 1
  // `mean` is 1 or more. Uses floating point.
  explicit Geometric(double mean) : mean_(mean < kMost ? static_cast<int32_t>(mean) : kMost) {
    // P(number > k) = (1 - 1/mean)^k, so each halving of a uniform number is -1 / log2(1 - 1/mean)
    // steps.
    constexpr double kLargest = 1e12;  // far above what gives kMost
    if (mean > kLargest) mean = kLargest;
    halving_ = mean <= 1 ? 0 : static_cast<uint64_t>(kOne / -log2_of(1 - 1 / mean) + 0.5);
  }

  // `uniform` is uniformly distributed in [1, 2^48 - 1].
  [[nodiscard]] int32_t of(uint64_t uniform) const {
    constexpr int kUniformBits = 48;
    constexpr int kRestBits = 32;
    constexpr int kIndexAt = 63 - Logarithms::kIndexBits;
    const int zeros = __builtin_clzll(uniform);
    const uint64_t mantissa = uniform << zeros;
    const uint64_t index = mantissa >> kIndexAt & 0xff;
    const uint64_t rest = mantissa >> (kIndexAt - kRestBits) & UINT32_MAX;
    const uint64_t low = kLogarithms.numbers[index];
    const uint64_t step = kLogarithms.numbers[index + 1] - low;
    // Linear interpolation: at most 3e-6 below the curve.
    const uint64_t fraction = low + (step * rest >> kRestBits);
    // -log2(uniform / 2 ** 48)
    const uint64_t halvings = (static_cast<uint64_t>(zeros - (63 - kUniformBits)) << 32) - fraction;
    const auto steps =
        static_cast<uint64_t>(static_cast<Wide>(halvings) * halving_ >> (32 + kFractionBits));
    return steps < kMost ? static_cast<int32_t>(steps) + 1 : kMost;
  }

  // The mean, rounded down.
  [[nodiscard]] int32_t mean() const { return mean_; }

 private:
  static constexpr int kFractionBits = 24;
  static constexpr double kOne = uint64_t{1} << kFractionBits;

  // Binary logarithm of a number below 1 by the series of artanh, without libm.
  static double log2_of(double number) {
    double power = 0;
    for (; number < 0.5; number *= 2) power -= 1;
    const double ratio = (1 - number) / (1 + number);  // 1/3 at most
    const double square = ratio * ratio;
    double sum = 0;
    double term = ratio;
    constexpr int kTerms = 20;
    for (int i = 0; i < kTerms; ++i, term *= square) sum += term / (2 * i + 1);
    constexpr double kNaturalOfTwo = 0.69314718055994530942;
    return power - 2 * sum / kNaturalOfTwo;
  }

  uint64_t halving_ = 0;  // steps, in 2 ** -kFractionBits
  int32_t mean_ = 1;
};

}  // namespace telltale::sampler
