#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <vector>

#include "analysis/runtime/counter_values.h"
#include "model/clock.h"

namespace telltale {

// Calls use(counter, value) for all values of all counters in order of time; of equal times in the
// order of the counters.
template <typename Use>
void for_each_in_order_of_time(const std::vector<CounterValues::Series>& series, Use use) {
  struct Next {
    Ticks time = 0;
    size_t counter = 0;
    auto operator<=>(const Next&) const = default;
  };
  std::vector<CounterValues::Series::Reader> readers;
  std::vector<CounterValues::Value> values(series.size());
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  const auto read = [&](size_t i) {
    if (readers[i].next(values[i])) queue.push({values[i].time, i});
  };
  for (size_t i = 0; i < series.size(); ++i) {
    readers.emplace_back(series[i]);
    read(i);
  }
  while (!queue.empty()) {
    const size_t i = queue.top().counter;
    queue.pop();
    use(series[i].counter, values[i]);
    read(i);
  }
}

}  // namespace telltale
