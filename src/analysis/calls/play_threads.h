#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/calls/in_order.h"
#include "base/parallel.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/event_source.h"

namespace telltale {

// Plays whole threads in parallel, on `workers` threads (0: all cores), for answers that need a
// thread's events in order.
//   make(stream) -> a sink with take() -> Part   by any worker
//   put(Part&&)                                   one at a time, in order of the streams
// Adds unreadable input to `problems`.
template <EventSource Source, typename Make, typename Put>
void play_threads(const Source& source, size_t workers, Make make, Put put, ProblemLog& problems) {
  workers = worker_count(workers);
  const auto streams = source.streams();
  using Part = decltype(make(size_t{0}).take());
  const auto take = [&put](size_t, Part&& part) { put(std::move(part)); };
  InOrder<Part, decltype(take)> in_order(streams.size(), take);
  std::vector<ProblemLog> logs(workers);
  parallel_for(streams.size(), workers, [&](size_t stream, size_t worker) {
    auto sink = make(stream);
    for (size_t shard = 0; shard < streams[stream].shards; ++shard)
      source.play(stream, shard, sink, logs[worker]);
    in_order.put(stream, sink.take());
  });
  for (const ProblemLog& log : logs) problems.merge(log);
}

// A filter's time window on the recording's clock.
struct PlayedWindow {
  Ticks from = 0;
  Ticks to = ~Ticks{0};
  [[nodiscard]] bool holds(Ticks time) const { return time >= from && time < to; }
};
template <EventSource Source>
PlayedWindow window_of(const Source& source, const CallFilter& filter) {
  const Ticks first = source.first_time();
  const Ticks length = source.clock().from_ns(filter.to_ns);
  return {first + source.clock().from_ns(filter.from_ns),
          length > ~first ? ~Ticks{0} : first + length};
}

}  // namespace telltale
