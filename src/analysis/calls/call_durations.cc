#include "analysis/calls/call_durations.h"

#include <bit>
#include <limits>

namespace telltale {

CallFilter without_inside(CallFilter filter) {
  filter.functions.clear();
  filter.max_depth = CallFilter().max_depth;
  return filter;
}

RecordedCall typical_call(std::vector<RecordedCall> calls) {
  const auto median = calls.begin() + static_cast<ptrdiff_t>(calls.size() / 2);
  std::ranges::nth_element(calls, median, {}, &RecordedCall::duration);
  return *std::ranges::min_element(calls, {}, [&](const RecordedCall& call) {
    return std::pair(call.duration != median->duration, std::pair(call.stream, call.call));
  });
}

std::vector<DurationBucket> duration_buckets(const std::vector<uint64_t>& durations_ns) {
  if (durations_ns.empty()) return {};
  const auto [least, most] = std::ranges::minmax(durations_ns);
  constexpr uint64_t kUpperHalf = uint64_t{1} << 63;
  std::vector<DurationBucket> buckets;
  for (uint64_t from = std::bit_floor(least);; from = buckets.back().to_ns) {
    DurationBucket bucket;
    bucket.from_ns = from;
    bucket.to_ns = from == 0           ? 1
                   : from < kUpperHalf ? 2 * from
                                       : std::numeric_limits<uint64_t>::max();
    buckets.push_back(bucket);
    if (from == std::bit_floor(most)) break;
  }
  const auto first = std::bit_width(least);
  for (const uint64_t duration : durations_ns) {
    DurationBucket& bucket = buckets[static_cast<size_t>(std::bit_width(duration) - first)];
    ++bucket.calls;
    bucket.total_ns += duration;
  }
  return buckets;
}

}  // namespace telltale
