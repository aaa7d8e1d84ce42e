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
  const auto first = static_cast<unsigned>(std::bit_width(least));
  const auto last = static_cast<unsigned>(std::bit_width(most));
  std::vector<DurationBucket> buckets;
  for (unsigned width = first; width <= last; ++width) {
    DurationBucket bucket;
    bucket.from_ns = width == 0 ? 0 : uint64_t{1} << (width - 1);
    bucket.to_ns = width == 64 ? std::numeric_limits<uint64_t>::max() : uint64_t{1} << width;
    buckets.push_back(bucket);
  }
  for (const uint64_t duration : durations_ns) {
    DurationBucket& bucket = buckets[static_cast<size_t>(std::bit_width(duration)) - first];
    ++bucket.calls;
    bucket.total_ns += duration;
  }
  return buckets;
}

}  // namespace telltale
