#include "analysis/calls/play_shards.h"

#include "base/parallel.h"

namespace telltale {

std::vector<std::pair<size_t, size_t>> list_shards(std::span<const EventStream> streams,
                                                   const CallFilter& filter) {
  std::vector<std::pair<size_t, size_t>> shards;
  for (size_t stream = 0; stream < streams.size(); ++stream) {
    if (!filter.keeps_thread(streams[stream].thread)) continue;
    for (size_t shard = 0; shard < streams[stream].shards; ++shard)
      shards.emplace_back(stream, shard);
  }
  return shards;
}

Result<void> play_shards(
    const ShardScanner& scanner, const CallFilter& filter, size_t workers,
    const std::function<void(const PlannedShard& shard, size_t slot, size_t worker)>& play,
    const std::function<Result<void>(const PlannedShard& shard, size_t slot)>& finish) {
  const auto streams = scanner.streams();
  const auto shards = list_shards(streams, filter);
  const uint64_t batch_bytes = workers * (uint64_t{8} << 20);
  StreamPosition position;
  size_t position_stream = ~size_t{0};

  for (size_t next = 0; next < shards.size();) {
    std::vector<PlannedShard> batch;
    for (uint64_t bytes = 0;
         next < shards.size() && bytes < batch_bytes && batch.size() < kMaxBatchShards; ++next) {
      const auto [stream, shard] = shards[next];
      bytes += scanner.shard_bytes(stream, shard);
      batch.push_back({stream, shard, shard + 1 == streams[stream].shards, {}, 0, {}});
    }
    parallel_for(batch.size(), workers, [&](size_t item, size_t) {
      PlannedShard& shard = batch[item];
      // No later shard needs the stack after the last one.
      if (!shard.last_shard) shard.boundary = scanner.scan(shard.stream, shard.shard);
    });
    for (PlannedShard& shard : batch) {
      if (shard.stream != position_stream) {
        position = StreamPosition();
        position_stream = shard.stream;
      }
      shard.open_before = position.open_calls();
      shard.floor = position.last_time();
      if (!shard.last_shard) scanner.pass(position, shard.stream, shard.shard, shard.boundary);
    }
    parallel_for(batch.size(), workers,
                 [&](size_t item, size_t worker) { play(batch[item], item, worker); });
    for (size_t item = 0; item < batch.size(); ++item) {
      const Result<void> finished = finish(batch[item], item);
      if (!finished) return finished;
    }
  }
  return {};
}

}  // namespace telltale
