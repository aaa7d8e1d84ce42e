#include "model/record_filter.h"

#include <limits>

namespace telltale {
namespace {

Ticks add_saturating(Ticks a, Ticks b) {
  return b > std::numeric_limits<Ticks>::max() - a ? std::numeric_limits<Ticks>::max() : a + b;
}

}  // namespace

RecordFilter::RecordFilter(const CallFilter& filter, const Clock& clock, Ticks first_time,
                           const FunctionNames& names)
    : filter_(filter),
      clock_(clock),
      first_time_(first_time),
      functions_(filter_, names),
      // A window without a beginning includes records without any time.
      from_(filter.from_ns == 0 ? 0 : add_saturating(first_time, clock.from_ns(filter.from_ns))),
      to_(add_saturating(first_time, clock.from_ns(filter.to_ns))),
      by_depth_(filter.max_depth != std::numeric_limits<size_t>::max()) {}

RecordFilter::Thread& RecordFilter::thread(ThreadKey key) {
  if (key.process == 0 && process_of) key.process = process_of(key.pid);
  const auto found = threads_.find(key);
  if (found != threads_.end()) return found->second;
  return threads_.try_emplace(key, *this, filter_.keeps_thread(key)).first->second;
}

bool RecordFilter::Thread::enter(Ticks time, FunctionId function) {
  if (!kept_) return false;
  bool chosen = other(time) && filter_.functions_.keeps(function);
  if (filter_.by_depth_) {
    calls_.enter({function, time, false});
    chosen = chosen && calls_.frames().size() <= filter_.filter_.max_depth;
  }
  return chosen;
}

bool RecordFilter::Thread::leave(Ticks time, FunctionId function, LeaveKind how) {
  if (!kept_) return false;
  bool chosen = other(time) && filter_.functions_.keeps(function);
  if (filter_.by_depth_) {
    // An exit without an entry has the depth that its call would have.
    size_t outside = calls_.frames().size();
    calls_.leave(function, how,
                 [&outside](const auto&, CloseKind, size_t depth) { outside = depth; });
    chosen = chosen && outside < filter_.filter_.max_depth;
  }
  return chosen;
}

bool RecordFilter::Thread::other(Ticks time) const {
  return kept_ && time >= filter_.from_ && time < filter_.to_;
}

}  // namespace telltale
