#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/calls/play_shards.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/call_sink.h"
#include "model/estimated.h"
#include "model/event_source.h"
#include "model/open_calls.h"

namespace telltale {

namespace detail {

// Decides which calls a filter keeps.
struct CallChooser {
  const CallFilter& filter;
  FunctionFilter& functions;
  Ticks from;  // on the recording's clock
  Ticks to;
  bool keeps_all = filter.keeps_every_call();

  // `outer` is the number of calls around it, whether the filter keeps them or not.
  [[nodiscard]] bool keeps(FunctionId function, Ticks entered, size_t outer) const {
    return keeps_all ||
           (outer < filter.max_depth && in_window(entered) && functions.keeps(function));
  }
  [[nodiscard]] bool in_window(Ticks time) const {
    return keeps_all || (time >= from && time < to);
  }
};

// Turns the events of one shard into nested calls for `Sink`, given the calls that are open at its
// start.
template <CallSink Sink>
class CallPlayer : public IgnoreEvents {
 public:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    bool kept = true;  // by the filter
  };

  CallPlayer(Sink& sink, const CallChooser& chooser, Ticks floor)
      : sink_(sink), chooser_(chooser), floor_(floor) {}

  void start_with(std::vector<Frame> frames) { calls_.assign(std::move(frames)); }

  void enter(Ticks time, FunctionId function) {
    time = advance(time);
    const bool kept = chooser_.keeps(function, time, calls_.frames().size());
    calls_.enter({function, time, kept});
    argument_wanted_ = kept;
    if (kept) sink_.open(time, function);
  }
  void argument(uint64_t value) {
    if (argument_wanted_) sink_.argument(value);
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    time = advance(time);
    const bool found = calls_.leave(function, how, [&](Frame& frame, CloseKind kind, size_t) {
      if (frame.kept) sink_.close(time, frame.function, kind);
    });
    if (!found && chooser_.keeps(function, time, 0)) sink_.orphan_exit(time, function);
  }
  void instant(const InstantEvent& event) {
    InstantEvent held = event;
    held.time = advance(event.time);
    if (chooser_.in_window(held.time)) sink_.instant(held);
  }
  void cpu(Ticks time, uint32_t cpu) {
    time = advance(time);
    if (chooser_.in_window(time)) sink_.cpu(time, cpu);
  }
  void loss(const LossEvent& event) {
    LossEvent held = event;
    held.time = advance(event.time);
    if (chooser_.in_window(held.time)) sink_.loss(held);
  }
  void estimated(bool now) { emit_estimated(sink_, now); }
  void finish_stream() {
    calls_.close_all(CloseKind::unfinished, [&](Frame& frame, CloseKind kind, size_t) {
      if (frame.kept) sink_.close(floor_, frame.function, kind);
    });
  }

 private:
  // Times never go back within a stream, even if the clock did between shards.
  Ticks advance(Ticks time) {
    floor_ = std::max(floor_, time);
    return floor_;
  }

  Sink& sink_;
  const CallChooser& chooser_;
  Ticks floor_;
  bool argument_wanted_ = false;
  OpenCalls<Frame> calls_;
};

}  // namespace detail

// Plays a recording as nested calls, on `workers` threads (0: all cores); the result does not
// depend on their number.
//   make(const ShardContext&) -> Sink   called once per shard, by any worker, several at a time
//   finish(const ShardContext&, Sink&) -> Result<void>
//                                      called once per shard, in order of stream and shard, one at
//                                      a time; an error ends everything
// Shards in progress are bounded (some 8 MiB of records per worker), so that the sinks' data
// (encoded bytes, say) does not grow with the recording. A stream's last shard closes all open
// calls as CloseKind::unfinished.
template <EventSource Source, typename Make, typename Finish>
Result<void> play_calls(const Source& source, const CallFilter& filter, size_t workers, Make make,
                        Finish finish, ProblemLog& problems) {
  using Sink = decltype(make(ShardContext{}));
  using Player = detail::CallPlayer<Sink>;
  workers = worker_count(workers);
  const Ticks from = source.first_time() + source.clock().from_ns(filter.from_ns);
  const Ticks window = source.clock().from_ns(filter.to_ns);
  const Ticks to = window > ~source.first_time() ? ~Ticks{0} : source.first_time() + window;
  std::vector<FunctionFilter> function_filters(workers, FunctionFilter(filter, source.functions()));
  std::vector<ProblemLog> logs(workers);

  struct Played {
    ShardContext context;
    std::vector<OpenCall> visible;  // the part that context.open_calls refers to
    std::optional<Sink> sink;
  };
  std::vector<Played> played(kMaxBatchShards);
  const auto play = [&](const PlannedShard& shard, size_t slot, size_t worker) {
    Played& out = played[slot];
    out.context = {.stream = shard.stream,
                   .shard = shard.shard,
                   .first_shard = shard.shard == 0,
                   .last_shard = shard.last_shard,
                   .worker = worker,
                   .open_calls = {}};
    const detail::CallChooser chooser{filter, function_filters[worker], from, to};
    std::vector<typename Player::Frame> frames;
    frames.reserve(shard.open_before.size());
    for (const OpenCall& call : shard.open_before) {
      const bool kept = chooser.keeps(call.function, call.entered, frames.size());
      frames.push_back({call.function, call.entered, kept});
      if (kept) out.visible.push_back(call);
    }
    out.context.open_calls = out.visible;
    out.sink.emplace(make(std::as_const(out.context)));
    Player player(*out.sink, chooser, shard.floor);
    player.start_with(std::move(frames));
    source.play(shard.stream, shard.shard, player, logs[worker]);
    if (shard.last_shard) player.finish_stream();
    if constexpr (requires(Sink& sink) { sink.end_shard(); }) out.sink->end_shard();
  };
  const Result<void> done =
      play_shards(ShardScannerOf<Source>(source), filter, workers, play,
                  [&](const PlannedShard&, size_t slot) -> Result<void> {
                    const Result<void> finished =
                        finish(std::as_const(played[slot].context), *played[slot].sink);
                    played[slot] = {};
                    return finished;
                  });
  if (!done) return done;
  for (const ProblemLog& log : logs) problems.merge(log);
  return {};
}

}  // namespace telltale
