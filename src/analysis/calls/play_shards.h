#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/calls/shard_boundary.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/event_source.h"

namespace telltale {

// A shard and its context before it is played.
struct PlannedShard {
  size_t stream = 0;
  size_t shard = 0;
  bool last_shard = false;            // of its stream
  std::vector<OpenCall> open_before;  // calls that are open when it begins, outermost first
  Ticks floor = 0;                    // no event of the shard is earlier than the events before it
  ShardBoundary boundary;  // its effect on the open calls; empty for a stream's last shard
};

// The shards of all streams that a filter keeps, in order of stream and shard.
template <EventSource Source>
std::vector<std::pair<size_t, size_t>> list_shards(const Source& source, const CallFilter& filter) {
  std::vector<std::pair<size_t, size_t>> shards;
  const auto streams = source.streams();
  for (size_t stream = 0; stream < streams.size(); ++stream) {
    if (!filter.keeps_thread(streams[stream].thread)) continue;
    for (size_t shard = 0; shard < streams[stream].shards; ++shard)
      shards.emplace_back(stream, shard);
  }
  return shards;
}

constexpr size_t kMaxBatchShards = 4096;

// Processes all shards of a recording in parallel, each with the calls that are open at its start.
//   play(const PlannedShard&, size_t slot, size_t worker)   several at a time; slot numbers the
//                                                          shards of one batch
//   finish(const PlannedShard&, size_t slot) -> Result<void>   one at a time, in order of stream
//   and
//                                                             shard
// The open calls depend on the previous shards. Each batch of shards (some 8 MiB of records per
// worker) is therefore first scanned for its effect on the stack, in parallel; then the stacks are
// chained; then the shards are played, in parallel.
template <EventSource Source, typename Play, typename Finish>
Result<void> play_shards(const Source& source, const CallFilter& filter, size_t workers, Play play,
                         Finish finish) {
  const auto streams = source.streams();
  const auto shards = list_shards(source, filter);
  const uint64_t batch_bytes = workers * (uint64_t{8} << 20);
  StreamPosition position;
  size_t position_stream = ~size_t{0};

  for (size_t next = 0; next < shards.size();) {
    std::vector<PlannedShard> batch;
    for (uint64_t bytes = 0;
         next < shards.size() && bytes < batch_bytes && batch.size() < kMaxBatchShards; ++next) {
      const auto [stream, shard] = shards[next];
      bytes += source.shard_bytes(stream, shard);
      batch.push_back({stream, shard, shard + 1 == streams[stream].shards, {}, 0, {}});
    }
    parallel_for(batch.size(), workers, [&](size_t item, size_t) {
      if (batch[item].last_shard) return;  // no later shard needs the stack
      ShardBoundarySink sink;
      ProblemLog unused(1);
      source.play(batch[item].stream, batch[item].shard, sink, unused);
      batch[item].boundary = sink.take();
    });
    for (PlannedShard& shard : batch) {
      if (shard.stream != position_stream) {
        position = StreamPosition();
        position_stream = shard.stream;
      }
      shard.open_before = position.open_calls();
      shard.floor = position.last_time();
      if (!shard.last_shard) position.pass(source, shard.stream, shard.shard, shard.boundary);
    }
    parallel_for(batch.size(), workers, [&](size_t item, size_t worker) {
      play(std::as_const(batch[item]), item, worker);
    });
    for (size_t item = 0; item < batch.size(); ++item) {
      const Result<void> finished = finish(std::as_const(batch[item]), item);
      if (!finished) return finished;
    }
  }
  return {};
}

}  // namespace telltale
