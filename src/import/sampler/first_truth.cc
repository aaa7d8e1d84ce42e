#include "import/sampler/first_truth.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace telltale {
namespace {

constexpr uint64_t kLast = uint64_t{1} << 30;

// The predicates that were true at every observation of a site, as bits.
uint32_t always_true(const isolation::SiteGroup& group, uint32_t counted) {
  uint32_t always = 0;
  for (unsigned i = 0; i < group.counters; ++i) {
    const uint32_t own = 1U << i;
    if (counted == own) always |= 1U << (group.complements ? 2 * i : i);
    if (group.complements && counted != 0 && (counted & own) == 0) always |= 1U << (2 * i + 1);
  }
  return always;
}

}  // namespace

// A run's clock ticks at observations: only the order of its times means something, and their share
// of the last one.
void FirstTruth::add_run(std::span<const Observation> observations) {
  if (observations.empty()) return;
  sums_.resize(table_->predicate_count());
  runs_.resize(table_->predicate_count());
  const uint64_t last = std::ranges::max(observations, {}, &Observation::time).time;
  for (const Observation& seen : observations) {
    const double share = static_cast<double>(seen.time) / static_cast<double>(last);
    const isolation::SiteGroup& group = table_->groups()[table_->group_of(seen.site)];
    for (uint32_t always = always_true(group, seen.counted); always != 0; always &= always - 1) {
      const uint32_t predicate =
          table_->first_predicate(seen.site) + static_cast<uint32_t>(std::countr_zero(always));
      sums_[predicate] += static_cast<uint64_t>(share * kLast);
      ++runs_[predicate];
    }
  }
}

void FirstTruth::merge(const FirstTruth& other) {
  sums_.resize(std::max(sums_.size(), other.sums_.size()));
  runs_.resize(sums_.size());
  for (size_t i = 0; i < other.sums_.size(); ++i) {
    sums_[i] += other.sums_[i];
    runs_[i] += other.runs_[i];
  }
}

std::vector<double> FirstTruth::averages() const {
  std::vector<double> averages;
  for (size_t i = 0; i < sums_.size(); ++i) {
    const double runs = runs_[i];
    averages.push_back(runs == 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : static_cast<double>(sums_[i]) / runs / kLast);
  }
  return averages;
}

}  // namespace telltale
