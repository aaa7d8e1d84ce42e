#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/calls/unit_boundary.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/event_source.h"

namespace telltale {

// A unit and its context before it is played.
struct PlannedUnit {
  size_t stream = 0;
  size_t unit = 0;
  bool last_unit = false;             // of its stream
  std::vector<OpenCall> open_before;  // calls that are open when it begins, outermost first
  Ticks floor = 0;                    // no event of the unit is earlier than the events before it
  UnitBoundary boundary;  // its effect on the open calls; empty for a stream's last unit
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

constexpr size_t kMaxBatchUnits = 4096;

// Processes all units of a recording in parallel, each with the calls that are open at its start.
//   play(const PlannedUnit&, size_t slot, size_t worker)   several at a time; slot numbers the
//                                                          units of one batch
//   finish(const PlannedUnit&, size_t slot) -> Result<void>   one at a time, in order of stream and
//                                                             unit
// The open calls depend on the previous units. Each batch of units (some 8 MiB of records per
// worker) is therefore first scanned for its effect on the stack, in parallel; then the stacks are
// chained; then the units are played, in parallel.
template <EventSource Source, typename Play, typename Finish>
Result<void> play_units(const Source& source, const CallFilter& filter, size_t workers, Play play,
                        Finish finish) {
  const auto streams = source.streams();
  const auto units = list_units(source, filter);
  const uint64_t batch_bytes = workers * (uint64_t{8} << 20);
  StreamPosition position;
  size_t position_stream = ~size_t{0};

  for (size_t next = 0; next < units.size();) {
    std::vector<PlannedUnit> batch;
    for (uint64_t bytes = 0;
         next < units.size() && bytes < batch_bytes && batch.size() < kMaxBatchUnits; ++next) {
      const auto [stream, unit] = units[next];
      bytes += source.unit_bytes(stream, unit);
      batch.push_back({stream, unit, unit + 1 == streams[stream].units, {}, 0, {}});
    }
    parallel_for(batch.size(), workers, [&](size_t item, size_t) {
      if (batch[item].last_unit) return;  // no later unit needs the stack
      UnitBoundarySink sink;
      ProblemLog unused(1);
      source.play(batch[item].stream, batch[item].unit, sink, unused);
      batch[item].boundary = sink.take();
    });
    for (PlannedUnit& unit : batch) {
      if (unit.stream != position_stream) {
        position = StreamPosition();
        position_stream = unit.stream;
      }
      unit.open_before = position.open_calls();
      unit.floor = position.last_time();
      if (!unit.last_unit) position.pass(source, unit.stream, unit.unit, unit.boundary);
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
