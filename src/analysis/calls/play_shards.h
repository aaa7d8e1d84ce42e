#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/calls/shard_boundary.h"
#include "base/error.h"
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
std::vector<std::pair<size_t, size_t>> list_shards(std::span<const EventStream> streams,
                                                   const CallFilter& filter);

constexpr size_t kMaxBatchShards = 4096;

// What play_shards() needs of a recording, so that it is compiled once for all kinds: two virtual
// calls a shard.
class ShardScanner {
 public:
  ShardScanner() = default;
  ShardScanner(const ShardScanner&) = delete;
  ShardScanner& operator=(const ShardScanner&) = delete;
  virtual ~ShardScanner() = default;
  // As EventSource says.
  [[nodiscard]] virtual std::span<const EventStream> streams() const = 0;
  [[nodiscard]] virtual uint64_t shard_bytes(size_t stream, size_t shard) const = 0;
  // Plays a shard for its effect on the open calls. Safe from several threads.
  [[nodiscard]] virtual ShardBoundary scan(size_t stream, size_t shard) const = 0;
  // StreamPosition::pass.
  virtual void pass(StreamPosition& position, size_t stream, size_t shard,
                    ShardBoundary& boundary) const = 0;
};

template <EventSource Source>
class ShardScannerOf final : public ShardScanner {
 public:
  // `source` must outlive it.
  explicit ShardScannerOf(const Source& source) : source_(source) {}
  [[nodiscard]] std::span<const EventStream> streams() const override { return source_.streams(); }
  [[nodiscard]] uint64_t shard_bytes(size_t stream, size_t shard) const override {
    return source_.shard_bytes(stream, shard);
  }
  [[nodiscard]] ShardBoundary scan(size_t stream, size_t shard) const override {
    ShardBoundarySink sink;
    ProblemLog unused(1);
    source_.play(stream, shard, sink, unused);
    return sink.take();
  }
  void pass(StreamPosition& position, size_t stream, size_t shard,
            ShardBoundary& boundary) const override {
    position.pass(source_, stream, shard, boundary);
  }

 private:
  const Source& source_;
};

// Processes all shards of a recording in parallel, each with the calls that are open at its start.
//   play(const PlannedShard&, size_t slot, size_t worker)   several at a time; slot numbers the
//                                                          shards of one batch
//   finish(const PlannedShard&, size_t slot) -> Result<void>   one at a time, in order of stream
//   and
//                                                             shard
// The open calls depend on the previous shards. Each batch of shards (some 8 MiB of records per
// worker) is therefore first scanned for its effect on the stack, in parallel; then the stacks are
// chained; then the shards are played, in parallel.
Result<void> play_shards(
    const ShardScanner& scanner, const CallFilter& filter, size_t workers,
    const std::function<void(const PlannedShard& shard, size_t slot, size_t worker)>& play,
    const std::function<Result<void>(const PlannedShard& shard, size_t slot)>& finish);

}  // namespace telltale
