#include "analysis/duration_histogram.h"

#include <algorithm>

namespace telltale {

void DurationHistogram::add_slowly(Ticks duration) {
  if (counts_.empty()) {
    few_.push_back(duration);
    if (few_.size() <= kFew) return;
    for (const Ticks kept : few_) count_in_bucket(bucket_of(kept), 1);
    few_ = {};
    return;
  }
  count_in_bucket(bucket_of(duration), 1);
}

void DurationHistogram::carry(size_t index) { ++carries_[first_bucket_ + index]; }

void DurationHistogram::count_in_bucket(size_t bucket, uint64_t times) {
  make_room_for(bucket);
  uint32_t& count = counts_[bucket - first_bucket_];
  const uint64_t sum = count + times;
  count = static_cast<uint32_t>(sum);
  if (sum > UINT32_MAX) carries_[bucket] += sum >> 32;
}

void DurationHistogram::make_room_for(size_t bucket) {
  const size_t octave_start = bucket & ~(kPerOctave - 1);
  if (counts_.empty()) {
    first_bucket_ = octave_start;
    counts_.resize(kPerOctave);
  } else if (octave_start < first_bucket_) {
    counts_.insert(counts_.begin(), first_bucket_ - octave_start, 0);
    first_bucket_ = octave_start;
  } else if (bucket - first_bucket_ >= counts_.size()) {
    counts_.resize(octave_start + kPerOctave - first_bucket_);
  }
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
  for (const Ticks duration : other.few_) add(duration);
  if (other.counts_.empty()) return;
  for (const Ticks duration : few_) count_in_bucket(bucket_of(duration), 1);
  few_ = {};
  for (size_t i = 0; i < other.counts_.size(); ++i) {
    if (const uint64_t times = other.count_at(i); times != 0)
      count_in_bucket(other.first_bucket_ + i, times);
  }
}

uint64_t DurationHistogram::count() const {
  uint64_t count = few_.size();
  for (size_t i = 0; i < counts_.size(); ++i) count += count_at(i);
  return count;
}

Ticks DurationHistogram::quantile(double fraction) const {
  const uint64_t total = count();
  if (total == 0) return 0;
  const uint64_t rank =
      std::min<uint64_t>(total - 1, static_cast<uint64_t>(static_cast<double>(total) * fraction));
  if (!few_.empty()) {
    std::vector<Ticks> sorted = few_;
    std::ranges::sort(sorted);
    return sorted[static_cast<size_t>(rank)];
  }
  uint64_t before = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    before += count_at(i);
    if (before > rank) return middle_of(first_bucket_ + i);
  }
  return 0;  // not reached: rank < total
}

}  // namespace telltale
