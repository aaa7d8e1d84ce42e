#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/clock.h"

namespace telltale {

// Counts durations in buckets whose width is 1/64 of their lower edge, so that any quantile is
// within 1/128 (0.79 %) of the true value, and exact up to 127 ticks or for few durations. Merges
// associatively; memory depends on the range of the durations and not on their number. The layout
// is that of HdrHistogram (G. Tene) with six bits.
class DurationHistogram {
 public:
  static constexpr double kMaxRelativeError = 1.0 / 128;

  // `exact`: every duration is kept, and every quantile is exact; memory follows their number.
  explicit DurationHistogram(bool exact = false)
      : most_kept_(exact ? std::numeric_limits<size_t>::max() : kFew) {}

  [[gnu::always_inline]] void add(Ticks duration) {
    const size_t at = bucket_of(duration) - first_bucket_;
    if (at >= buckets_) [[unlikely]] {
      add_slowly(duration);
      return;
    }
    if (++counts_[at] == 0) [[unlikely]]
      ++carries_[at + first_bucket_];
  }
  // REQUIRES: both are exact, or neither.
  void merge(const DurationHistogram& other);

  // Element floor(n * fraction) of the n sorted durations, 0 <= fraction < 1. 0 if nothing was
  // recorded. Changes the order of the durations that are kept.
  [[nodiscard]] Ticks quantile(double fraction);
  [[nodiscard]] uint64_t count() const;

 private:
  static constexpr unsigned kBits = 6;
  static constexpr size_t kPerOctave = size_t{1} << kBits;
  static constexpr size_t kFew = 64;  // durations kept one by one: buckets may be much larger
                                      // than the input that made them

  // Buckets are numbered by octave: 0 to 63 contain one value each, octave n the values of 6 + n
  // significant bits.
  static size_t bucket_of(Ticks duration) {
    const unsigned top = 63U ^ static_cast<unsigned>(__builtin_clzll(duration | kPerOctave));
    const unsigned shift = top - kBits;
    return (size_t{shift} << kBits) + static_cast<size_t>(duration >> shift);
  }
  static Ticks middle_of(size_t bucket);

  void add_slowly(Ticks duration);
  void count_kept();
  void count_in_bucket(size_t bucket, uint64_t times);
  void make_room_for(size_t bucket);
  [[nodiscard]] uint64_t count_at(size_t index) const;

  // Counts of buckets first_bucket_ and up, whole octaves. Not a vector, because add() needs the
  // number of elements, which a vector computes from two pointers.
  std::unique_ptr<uint32_t[]> counts_;
  size_t buckets_ = 0;
  size_t first_bucket_ = 0;
  std::vector<Ticks> kept_;  // while there are no counts
  size_t most_kept_;
  std::unordered_map<size_t, uint64_t> carries_;  // by bucket: multiples of 2^32
};

}  // namespace telltale
