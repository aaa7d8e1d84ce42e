#include "analysis/calls/duration_histogram.h"

#include <algorithm>
#include <utility>

namespace telltale {

void DurationHistogram::add_slowly(Ticks duration) {
  if (buckets_ != 0) {
    count_in_bucket(bucket_of(duration), 1);
    return;
  }
  kept_.push_back(duration);
  if (kept_.size() > most_kept_) count_kept();
}

void DurationHistogram::count_kept() {
  for (const Ticks duration : kept_) count_in_bucket(bucket_of(duration), 1);
  kept_ = {};
}

void DurationHistogram::count_in_bucket(size_t bucket, uint64_t times) {
  make_room_for(bucket);
  uint32_t& count = counts_[bucket - first_bucket_];
  const uint64_t sum = count + times;
  count = static_cast<uint32_t>(sum);
  if (sum > UINT32_MAX) carries_[bucket] += sum >> 32;
}

void DurationHistogram::make_room_for(size_t bucket) {
  const size_t octave = bucket & ~(kPerOctave - 1);
  const size_t begin = buckets_ == 0 ? octave : std::min(first_bucket_, octave);
  const size_t end =
      buckets_ == 0 ? octave + kPerOctave : std::max(first_bucket_ + buckets_, octave + kPerOctave);
  if (end - begin == buckets_) return;
  auto counts = std::make_unique<uint32_t[]>(end - begin);
  if (buckets_ != 0) std::copy_n(counts_.get(), buckets_, counts.get() + (first_bucket_ - begin));
  counts_ = std::move(counts);
  first_bucket_ = begin;
  buckets_ = end - begin;
}

uint64_t DurationHistogram::count_at(size_t index) const {
  uint64_t count = counts_[index];
  if (!carries_.empty()) {
    const auto carry = carries_.find(first_bucket_ + index);
    if (carry != carries_.end()) count += carry->second << 32;
  }
  return count;
}

Ticks DurationHistogram::middle_of(size_t bucket) {
  // The inverse of bucket_of: octave 0 is two octaves' worth of single values.
  if (bucket < 2 * kPerOctave) return bucket;
  const size_t shift = (bucket >> kBits) - 1;
  const Ticks lower = Ticks{kPerOctave + (bucket & (kPerOctave - 1))} << shift;
  return lower + ((Ticks{1} << shift) - 1) / 2;
}

void DurationHistogram::merge(const DurationHistogram& other) {
  for (const Ticks duration : other.kept_) add(duration);
  if (other.buckets_ == 0) return;
  count_kept();
  for (size_t i = 0; i < other.buckets_; ++i) {
    if (const uint64_t times = other.count_at(i); times != 0)
      count_in_bucket(other.first_bucket_ + i, times);
  }
}

uint64_t DurationHistogram::count() const {
  uint64_t count = kept_.size();
  for (size_t i = 0; i < buckets_; ++i) count += count_at(i);
  return count;
}

Ticks DurationHistogram::quantile(double fraction) {
  const uint64_t total = count();
  if (total == 0) return 0;
  const uint64_t rank =
      std::min<uint64_t>(total - 1, static_cast<uint64_t>(static_cast<double>(total) * fraction));
  if (!kept_.empty()) {
    const auto element = kept_.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(kept_.begin(), element, kept_.end());
    return *element;
  }
  uint64_t before = 0;
  for (size_t i = 0; i < buckets_; ++i) {
    before += count_at(i);
    if (before > rank) return middle_of(first_bucket_ + i);
  }
  return 0;  // not reached: rank < total
}

}  // namespace telltale
