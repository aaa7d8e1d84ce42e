#pragma once

#include "model/call_filter.h"
#include "model/clock.h"

namespace telltale {

// A filter's time window on a recording's clock, whose times are relative to `zero`. Without a
// window it includes everything, even events before `zero`.
struct TimeWindow {
  Ticks from = 0;
  Ticks to = ~Ticks{0};  // one past the last time

  TimeWindow(const CallFilter& filter, Ticks zero)
      : from(filter.from_ns == 0 ? 0 : zero + filter.from_ns),
        to(filter.to_ns > ~zero ? ~Ticks{0} : zero + filter.to_ns) {}
  [[nodiscard]] bool holds(Ticks time) const { return time >= from && time < to; }
};

}  // namespace telltale
