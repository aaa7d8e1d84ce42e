#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/calls/in_order.h"
#include "analysis/calls/play_shards.h"
#include "base/parallel.h"
#include "base/problem.h"
#include "model/event_source.h"

namespace telltale {

// Plays every shard of every stream to a separate sink, on `workers` threads (0: all cores).
//   make() -> a sink     by any worker
//   put(Sink&&)          one at a time, in order of stream and shard
// Adds unreadable input to `problems`.
template <EventSource Source, typename Make, typename Put>
void play_pieces(const Source& source, size_t workers, Make make, Put put, ProblemLog& problems) {
  workers = worker_count(workers);
  const auto shards = list_shards(source, CallFilter());
  using Sink = decltype(make());
  const auto take = [&put](size_t, Sink&& sink) { put(std::move(sink)); };
  InOrder<Sink, decltype(take)> in_order(shards.size(), take);
  std::vector<ProblemLog> logs(workers);
  parallel_for(shards.size(), workers, [&](size_t item, size_t worker) {
    Sink sink = make();
    source.play(shards[item].first, shards[item].second, sink, logs[worker]);
    in_order.put(item, std::move(sink));
  });
  for (const ProblemLog& log : logs) problems.merge(log);
}

}  // namespace telltale
