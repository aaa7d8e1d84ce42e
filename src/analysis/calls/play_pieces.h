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

// Plays each of `shards` (stream, shard) to a separate sink, on `workers` threads (0: all cores).
//   make() -> a sink     by any worker
//   put(Sink&&)          one at a time, in the order of `shards`
// Adds unreadable input to `problems`.
template <EventSource Source, typename Make, typename Put>
void play_pieces(const Source& source, const std::vector<std::pair<size_t, size_t>>& shards,
                 size_t workers, Make make, Put put, ProblemLog& problems) {
  workers = worker_count(workers);
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

// The same with every shard of every stream, in order of stream and shard.
template <EventSource Source, typename Make, typename Put>
void play_pieces(const Source& source, size_t workers, Make make, Put put, ProblemLog& problems) {
  play_pieces(source, list_shards(source.streams(), CallFilter()), workers, std::move(make),
              std::move(put), problems);
}

}  // namespace telltale
