#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "analysis/calls/play_pieces.h"
#include "base/error.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/clock.h"
#include "model/event_source.h"
#include "model/function_names.h"
#include "model/runtime_events.h"
#include "output/runtime_answers.h"
#include "output/tree/measured_tree.h"

namespace telltale {

// The paths of a runtime's recording by a measure other than time. `functions`, `clock` and
// `streams` are the recording's.
MeasuredTree measure_runtime(const RuntimeAnswers& runtime, Measure measure,
                             const CallFilter& filter, size_t workers,
                             const CallTreeOptions& options, const FunctionNames& functions,
                             const Clock& clock, std::span<const EventStream> streams,
                             ProblemLog& problems);

// The paths of a recording by a measure, by thread, in one or two passes on `workers` threads (0:
// all cores). `runtime`: null if it has only calls; then other measures than time have no paths.
// Adds damage to `problems`. Errors: those of build_call_tree.
template <EventSource Source>
Result<MeasuredTree> measure_paths(const Source& source, const RuntimeAnswers* runtime,
                                   Measure measure, const CallFilter& filter, size_t workers,
                                   size_t max_depth, ProblemLog& problems) {
  const CallTreeOptions options{.by_thread = true, .max_depth = max_depth};
  if (measure == Measure::time) {
    Result<CallTreePartial> calls = collect_call_tree(source, filter, workers, options, problems);
    if (!calls) return std::unexpected(calls.error());
    return MeasuredTree{*std::move(calls), nullptr, source.clock(), units_of(measure), {}, {}};
  }
  if (runtime != nullptr)
    return measure_runtime(*runtime, measure, filter, workers, options, source.functions(),
                           source.clock(), source.streams(), problems);
  return MeasuredTree{CallTreePartial(options), nullptr, Clock{.name = "count"},
                      units_of(measure),        {},      {}};
}

// The measures for which a part of a recording has data.
struct MeasuresFound : IgnoreEvents {
  bool calls = false, allocations = false, samples = false, throws = false, waits = false,
       objects = false, shots = false;

  void enter(Ticks, FunctionId) { calls = true; }
  void on(const AllocationEvent&) { allocations = true; }
  void on(const SampleEvent&) { samples = true; }
  void on(const ThrowEvent&) { throws = true; }
  void on(const MonitorEvent& event) { waits |= event.kind == MonitorEvent::Kind::contended; }
  void on(const HeapObjectEvent&) { objects = true; }
  void on(const HeapShotEvent& event) { shots |= !event.begin; }
  void append(const MeasuresFound& other) {
    for (const auto what : {&MeasuresFound::calls, &MeasuresFound::allocations,
                            &MeasuresFound::samples, &MeasuresFound::throws, &MeasuresFound::waits,
                            &MeasuresFound::objects, &MeasuresFound::shots})
      this->*what |= other.*what;
  }
  [[nodiscard]] bool has(Measure measure) const {
    switch (measure) {
      case Measure::time:
        return calls;
      case Measure::alloc_bytes:
      case Measure::alloc_count:
        return allocations;
      case Measure::samples:
        return samples;
      case Measure::throws:
        return throws;
      case Measure::blocked:
        return waits;
      case Measure::live_bytes:
      case Measure::live_count:
        return objects && shots;
    }
    return false;
  }
};

// The measures for which a recording has data, in enumeration order. Reads the whole recording.
template <EventSource Source>
std::vector<Measure> measures_with_data(const Source& source, size_t workers) {
  ProblemLog same_again;  // the caller has read the recording before
  MeasuresFound found;
  play_pieces(
      source, workers, [] { return MeasuresFound(); },
      [&](const MeasuresFound& part) { found.append(part); }, same_again);
  std::vector<Measure> measures;
  for (const Measure measure : all_measures())
    if (found.has(measure)) measures.push_back(measure);
  return measures;
}

}  // namespace telltale
