#include "analysis/calls/call_durations.h"

#include <bit>
#include <functional>
#include <limits>
#include <tuple>

#include "base/add_saturated.h"

namespace telltale {

CallFilter without_inside(CallFilter filter) {
  filter.functions.clear();
  filter.max_depth = CallFilter().max_depth;
  return filter;
}

void DurationCollector::add(const RecordedCall& call) {
  Calls& calls = functions_[call.function];
  FunctionDurations& sums = calls.sums;
  if (sums.ended == 0 && sums.open == 0) {
    sums.function = call.function;
    found_.push_back(call.function);
  }
  if (call.ended == CloseKind::unfinished) {
    ++sums.open;
    return;
  }
  sums.min = sums.ended == 0 ? call.duration : std::min(sums.min, call.duration);
  sums.max = std::max(sums.max, call.duration);
  ++sums.ended;
  calls.histogram.add(call.duration);
}

std::vector<FunctionDurations> DurationCollector::finish() {
  std::ranges::sort(found_);
  std::vector<FunctionDurations> functions;
  for (const FunctionId function : found_) {
    Calls& calls = functions_[function];
    FunctionDurations& sums = calls.sums;
    // The middle of a bucket may be beyond all its durations.
    const auto at = [&](double fraction) {
      return std::clamp(calls.histogram.quantile(fraction), sums.min, sums.max);
    };
    sums.median = at(0.5);
    sums.p90 = at(0.9);
    sums.p99 = at(0.99);
    functions.push_back(sums);
  }
  return functions;
}

void LongestCalls::cut() {
  sort_rows(calls_, std::greater(), &RecordedCall::duration);
  if (limit_ == 0 || calls_.size() <= limit_) return;
  calls_.resize(limit_);
  // An equally long one comes later.
  least_ = calls_.back().duration + 1;
}

std::vector<RecordedCall> LongestCalls::finish() {
  cut();
  return std::move(calls_);
}

TypicalCalls::TypicalCalls(const std::vector<FunctionDurations>& functions) {
  for (const FunctionDurations& one : functions) functions_[one.function].median = one.median;
}

void TypicalCalls::add(const RecordedCall& call) {
  const auto found = functions_.find(call.function);
  if (found == functions_.end() || call.ended == CloseKind::unfinished) return;
  Nearest& nearest = found->second;
  const auto key = [&](const RecordedCall& one) {
    const Ticks distance =
        std::max(one.duration, nearest.median) - std::min(one.duration, nearest.median);
    return std::tuple(distance, one.stream, one.call);
  };
  if (nearest.is_known && key(nearest.call) <= key(call)) return;
  nearest.call = call;
  nearest.is_known = true;
}

std::vector<RecordedCall> TypicalCalls::finish() const {
  std::vector<RecordedCall> calls;
  for (const auto& [function, nearest] : functions_)
    if (nearest.is_known) calls.push_back(nearest.call);
  return calls;
}

void DurationBuckets::add(Ticks duration) {
  Sums& sums = by_width_[static_cast<size_t>(std::bit_width(clock_.to_whole_ns(duration)))];
  ++sums.calls;
  sums.total = add_saturated(sums.total, duration);
}

std::vector<DurationBucket> DurationBuckets::all() const {
  const auto has_calls = [](const Sums& sums) { return sums.calls != 0; };
  const auto first = std::ranges::find_if(by_width_, has_calls);
  const auto last = std::find_if(by_width_.rbegin(), by_width_.rend(), has_calls).base();
  std::vector<DurationBucket> buckets;
  for (auto at = first; at < last; ++at) {
    const auto width = static_cast<unsigned>(at - by_width_.begin());
    buckets.push_back(
        {.from_ns = width == 0 ? 0 : uint64_t{1} << (width - 1),
         .to_ns = width == 64 ? std::numeric_limits<uint64_t>::max() : uint64_t{1} << width,
         .calls = at->calls,
         .total_ns = clock_.to_ns(at->total)});
  }
  return buckets;
}

}  // namespace telltale
