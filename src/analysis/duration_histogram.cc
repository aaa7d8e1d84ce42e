#include "analysis/duration_histogram.h"

#include <algorithm>

namespace telltale {

void DurationHistogram::add_small(Ticks duration) {
  few_.push_back(duration);
  if (few_.size() <= kFew) return;
  for (const Ticks kept : few_) count_in_bucket(kept);
  few_ = {};
}

uint8_t DurationHistogram::new_page() {
  pages_.emplace_back();
  return static_cast<uint8_t>(pages_.size());
}

uint64_t DurationHistogram::bucket_count(unsigned octave, size_t index) const {
  const uint8_t page = page_of_octave_[octave];
  if (page == 0) return 0;
  uint64_t count = pages_[page - 1U][index];
  if (!carries_.empty()) {
    const auto carry = carries_.find(octave * kPerOctave + index);
    if (carry != carries_.end()) count += carry->second << 32;
  }
  return count;
}

Ticks DurationHistogram::middle(unsigned octave, size_t index) {
  if (octave == 0) return index;
  const Ticks lower = (Ticks{kPerOctave} + index) << (octave - 1);
  return lower + ((Ticks{1} << (octave - 1)) - 1) / 2;
}

void DurationHistogram::merge(const DurationHistogram& other) {
  for (const Ticks duration : other.few_) add(duration);
  if (other.pages_.empty()) return;
  for (const Ticks duration : few_) count_in_bucket(duration);
  few_ = {};
  for (unsigned octave = 0; octave < kOctaves; ++octave) {
    if (other.page_of_octave_[octave] == 0) continue;
    for (size_t index = 0; index < kPerOctave; ++index) {
      const uint64_t times = other.bucket_count(octave, index);
      if (times == 0) continue;
      const Ticks lower = octave == 0 ? index : (Ticks{kPerOctave} + index) << (octave - 1);
      for (uint64_t left = times; left != 0;) {
        const uint64_t step = std::min<uint64_t>(left, UINT32_MAX);
        count_in_bucket(lower, step);
        left -= step;
      }
    }
  }
}

uint64_t DurationHistogram::count() const {
  uint64_t count = few_.size();
  for (unsigned octave = 0; octave < kOctaves; ++octave) {
    for (size_t index = 0; index < kPerOctave; ++index) count += bucket_count(octave, index);
  }
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
  for (unsigned octave = 0; octave < kOctaves; ++octave) {
    if (page_of_octave_[octave] == 0) continue;
    for (size_t index = 0; index < kPerOctave; ++index) {
      before += bucket_count(octave, index);
      if (before > rank) return middle(octave, index);
    }
  }
  return 0;  // not reached: rank < total
}

}  // namespace telltale
