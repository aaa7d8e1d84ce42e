#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/call_filter.h"
#include "analysis/open_calls.h"
#include "analysis/unit_boundary.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/problem.h"
#include "model/call_sink.h"
#include "model/event_source.h"

namespace telltale {

namespace detail {

// Turns the events of one unit into nested calls for `Sink`, given the calls that are open at its start.
template <CallSink Sink>
class CallPlayer : public IgnoreEvents {
 public:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    bool kept = true;  // by the filter
  };

  CallPlayer(Sink& sink, const CallFilter& filter, FunctionFilter& functions, Ticks from, Ticks to, Ticks floor)
      : sink_(sink),
        filter_(filter),
        functions_(functions),
        keeps_all_(filter.keeps_every_call()),
        from_(from),
        to_(to),
        floor_(floor) {}

  // Whether the filter keeps a call with `outer` calls around it.
  bool keeps(FunctionId function, Ticks entered, size_t outer) {
    return keeps_all_ ||
           (outer < filter_.max_depth && entered >= from_ && entered < to_ && functions_.keeps(function));
  }
  void start_with(std::vector<Frame> frames) { calls_.assign(std::move(frames)); }

  void enter(Ticks time, FunctionId function) {
    time = advance(time);
    const bool kept = keeps(function, time, calls_.frames().size());
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
    if (!found && keeps(function, time, 0)) sink_.orphan_exit(time, function);
  }
  void instant(const InstantEvent& event) {
    InstantEvent told = event;
    told.time = advance(event.time);
    if (in_window(told.time)) sink_.instant(told);
  }
  void cpu(Ticks time, uint32_t cpu) {
    time = advance(time);
    if (in_window(time)) sink_.cpu(time, cpu);
  }
  void loss(const LossEvent& event) {
    LossEvent told = event;
    told.time = advance(event.time);
    if (in_window(told.time)) sink_.loss(told);
  }
  void finish_stream() {
    calls_.close_all(CloseKind::unfinished, [&](Frame& frame, CloseKind kind, size_t) {
      if (frame.kept) sink_.close(floor_, frame.function, kind);
    });
  }

 private:
  // Times never go back within a stream, whatever the clock did between units.
  Ticks advance(Ticks time) {
    floor_ = std::max(floor_, time);
    return floor_;
  }
  [[nodiscard]] bool in_window(Ticks time) const { return keeps_all_ || (time >= from_ && time < to_); }

  Sink& sink_;
  const CallFilter& filter_;
  FunctionFilter& functions_;
  bool keeps_all_;
  Ticks from_;
  Ticks to_;
  Ticks floor_;
  bool argument_wanted_ = false;
  OpenCalls<Frame> calls_;
};

// One unit that is being worked on.
struct PlannedUnit {
  size_t stream = 0;
  size_t unit = 0;
  UnitBoundary boundary;
  std::vector<OpenCall> open_before;
  Ticks floor = 0;
};

// The units of all streams that a filter keeps, in order of stream and unit.
template <EventSource Source>
std::vector<std::pair<size_t, size_t>> list_units(const Source& source, const CallFilter& filter) {
  std::vector<std::pair<size_t, size_t>> units;
  const auto streams = source.streams();
  for (size_t stream = 0; stream < streams.size(); ++stream) {
    if (!filter.keeps_thread(streams[stream].thread)) continue;
    for (size_t unit = 0; unit < streams[stream].units; ++unit) units.emplace_back(stream, unit);
  }
  return units;
}

}  // namespace detail

// Plays a recording as nested calls, on `workers` threads (0: all cores), with a result that does not depend on their
// number.
//   make(const UnitContext&) -> Sink   called once per unit, from any worker, several at a time
//   finish(const UnitContext&, Sink&) -> Result<void>
//                                      called once per unit, in order of stream and unit, one at a time; an error ends
//                                      the whole
// Units that are in flight are bounded (some 8 MiB of records per worker), so that what sinks hold (encoded bytes, say)
// does not grow with the recording. A stream's last unit closes what is still open as CloseKind::unfinished.
//
// How it is parallel: the calls that are open when a unit begins come from the units before it. So each batch of units is
// first scanned for what it does to the stack (UnitBoundary), in parallel; then the stacks are chained; then the units are
// played, in parallel, each from its own known stack.
template <EventSource Source, typename Make, typename Finish>
Result<void> play_calls(const Source& source, const CallFilter& filter, size_t workers, Make make, Finish finish,
                        ProblemLog& problems) {
  using Sink = decltype(make(UnitContext{}));
  using Player = detail::CallPlayer<Sink>;
  workers = worker_count(workers);
  const auto streams = source.streams();
  const auto units = detail::list_units(source, filter);
  const Ticks from = source.first_time() + source.clock().from_ns(filter.from_ns);
  const Ticks window = source.clock().from_ns(filter.to_ns);
  const Ticks to = window > ~source.first_time() ? ~Ticks{0} : source.first_time() + window;
  const uint64_t batch_bytes = workers * (uint64_t{8} << 20);

  std::vector<FunctionFilter> function_filters(workers, FunctionFilter(filter, source.functions()));
  std::vector<ProblemLog> logs(workers);
  StreamPosition position;
  size_t position_stream = ~size_t{0};

  for (size_t next = 0; next < units.size();) {
    std::vector<detail::PlannedUnit> batch;
    for (uint64_t bytes = 0; next < units.size() && (bytes < batch_bytes && batch.size() < 4096); ++next) {
      bytes += source.unit_bytes(units[next].first, units[next].second);
      batch.push_back({units[next].first, units[next].second, {}, {}, 0});
    }
    // The last unit of a stream has nobody to hand a stack on to.
    const auto has_successor = [&](const detail::PlannedUnit& unit) { return unit.unit + 1 < streams[unit.stream].units; };
    parallel_for(batch.size(), workers, [&](size_t item, size_t) {
      if (!has_successor(batch[item])) return;
      UnitBoundarySink sink;
      ProblemLog unused(1);
      source.play(batch[item].stream, batch[item].unit, sink, unused);
      batch[item].boundary = sink.take();
    });
    for (detail::PlannedUnit& unit : batch) {
      if (unit.stream != position_stream) {
        position = StreamPosition();
        position_stream = unit.stream;
      }
      unit.open_before = position.open_calls();
      unit.floor = position.last_time();
      if (has_successor(unit)) position.pass(source, unit.stream, unit.unit, unit.boundary);
    }

    struct Played {
      UnitContext context;
      std::vector<OpenCall> visible;  // what context.open_calls shows
      std::optional<Sink> sink;
    };
    std::vector<Played> played(batch.size());
    parallel_for(batch.size(), workers, [&](size_t item, size_t worker) {
      detail::PlannedUnit& unit = batch[item];
      Played& out = played[item];
      out.context = {.stream = unit.stream,
                     .unit = unit.unit,
                     .first_unit = unit.unit == 0,
                     .last_unit = !has_successor(unit),
                     .worker = worker,
                     .open_calls = {}};
      // The player needs a sink to filter the calls that are open already, and the sink needs those that are left.
      IgnoreCalls nobody;
      detail::CallPlayer<IgnoreCalls> chooser(nobody, filter, function_filters[worker], from, to, 0);
      std::vector<typename Player::Frame> frames;
      frames.reserve(unit.open_before.size());
      for (const OpenCall& call : unit.open_before) {
        const bool kept = chooser.keeps(call.function, call.entered, frames.size());
        frames.push_back({call.function, call.entered, kept});
        if (kept) out.visible.push_back(call);
      }
      out.context.open_calls = out.visible;
      out.sink.emplace(make(std::as_const(out.context)));
      Player player(*out.sink, filter, function_filters[worker], from, to, unit.floor);
      player.start_with(std::move(frames));
      source.play(unit.stream, unit.unit, player, logs[worker]);
      if (out.context.last_unit) player.finish_stream();
    });
    for (Played& unit : played) {
      const Result<void> finished = finish(std::as_const(unit.context), *unit.sink);
      if (!finished) return finished;
    }
  }
  for (const ProblemLog& log : logs) problems.merge(log);
  return {};
}

}  // namespace telltale
