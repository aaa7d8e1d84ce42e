#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/clock.h"

namespace telltale {

// Counts durations in buckets whose width is 1/64 of their lower edge, so that any quantile is
// known to within 1/128 (0.79 %) of the true value, and exactly up to 127 ticks or while there are
// few of them. Merges associatively; memory follows the spread of the durations and not their
// number. The layout is that of HdrHistogram (G. Tene) with six bits.
class DurationHistogram {
 public:
  static constexpr double kMaxRelativeError = 1.0 / 128;

  void add(Ticks duration) {
    if (pages_.empty()) {
      add_small(duration);
      return;
    }
    count_in_bucket(duration);
  }
  void merge(const DurationHistogram& other);

  // The smallest recorded duration that at least a `fraction` of all are not greater than: element
  // floor(n * fraction) of the sorted durations, 0 <= fraction < 1. 0 if nothing was recorded.
  [[nodiscard]] Ticks quantile(double fraction) const;
  [[nodiscard]] uint64_t count() const;

 private:
  static constexpr unsigned kBits = 6;
  static constexpr unsigned kPerOctave = 1U << kBits;
  static constexpr size_t kFew = 16;  // durations kept as they are before buckets are made
  // Octave 0 holds 0 to 63 one by one, octave n the values with 6 + n significant bits.
  static constexpr size_t kOctaves = 64 - kBits + 1;
  using Page = std::array<uint32_t, kPerOctave>;

  void add_small(Ticks duration);
  void count_in_bucket(Ticks duration, uint64_t times = 1) {
    unsigned octave = 0;
    uint64_t index = duration;
    if (duration >= kPerOctave) {
      const unsigned top = 63U - static_cast<unsigned>(__builtin_clzll(duration));
      octave = top - kBits + 1;
      index = (duration >> (octave - 1)) - kPerOctave;
    }
    uint8_t& page = page_of_octave_[octave];
    if (page == 0) page = new_page();
    uint32_t& bucket = pages_[page - 1U][static_cast<size_t>(index)];
    const uint64_t sum = bucket + times;
    bucket = static_cast<uint32_t>(sum);
    if (sum > UINT32_MAX) [[unlikely]]
      carries_[octave * kPerOctave + index] += sum >> 32;
  }
  uint8_t new_page();
  [[nodiscard]] uint64_t bucket_count(unsigned octave, size_t index) const;
  static Ticks middle(unsigned octave, size_t index);

  std::vector<Ticks> few_;
  std::vector<Page> pages_;
  std::array<uint8_t, kOctaves> page_of_octave_{};  // 1 + index into pages_; 0: none
  std::unordered_map<uint64_t, uint64_t> carries_;  // by bucket: multiples of 2^32
};

}  // namespace telltale
