#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/calls/play_pieces.h"
#include "analysis/heap/heap_graph.h"
#include "analysis/heap/heap_retention.h"
#include "base/error.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/runtime_events.h"
#include "output/tree/measured_tree.h"

namespace telltale {

namespace detail {

template <EventSource Source>
MeasuredTree measure_events(const Source& source, Measure measure, const CallFilter& filter,
                            size_t workers, const CallTreeOptions& options, ProblemLog& problems) {
  StackMetric metric = StackMetric::allocations;
  if (measure == Measure::samples) metric = StackMetric::samples;
  if (measure == Measure::throws) metric = StackMetric::throws;
  if (measure == Measure::blocked) metric = StackMetric::waits;
  WeightedStacks stacks = collect_weighted_stacks(source, metric, filter, workers, problems);
  auto names = std::make_unique<FrameNames>(source.functions());
  const WeightOf weight = measure == Measure::alloc_count ? WeightOf::count : WeightOf::value;
  CallTreePartial partial = weighted_tree(stacks, metric, weight, options, *names);
  std::vector<LiveType> live = last_live_types(stacks, source.streams(), *names);
  return {std::move(partial),
          std::move(names),
          measure == Measure::blocked ? source.clock() : Clock{.name = "count"},
          units_of(measure),
          std::move(live),
          {}};
}

template <EventSource Source>
MeasuredTree measure_heap(const Source& source, Measure measure, const CallFilter& filter,
                          size_t workers, const CallTreeOptions& options, ProblemLog& problems) {
  auto names = std::make_unique<FrameNames>(source.functions());
  CallTreePartial partial(options);
  std::vector<HeapShotLeftOut> left_out;
  if (const auto graph = last_heap_graph(source, filter, workers, problems, &left_out)) {
    const WeightOf weight = measure == Measure::live_count ? WeightOf::count : WeightOf::value;
    partial =
        retention_tree(explain_heap(*graph, options.max_depth, *names), weight, options.max_depth);
  }
  return {std::move(partial), std::move(names), Clock{.name = "count"}, units_of(measure), {},
          std::move(left_out)};
}

}  // namespace detail

// The paths of a recording by a measure, by thread, in one or two passes on `workers` threads (0:
// all cores). Adds damage to `problems`. Errors: those of build_call_tree.
template <EventSource Source>
Result<MeasuredTree> measure_paths(const Source& source, Measure measure, const CallFilter& filter,
                                   size_t workers, size_t max_depth, ProblemLog& problems) {
  const CallTreeOptions options{.by_thread = true, .max_depth = max_depth};
  if (measure == Measure::time) {
    Result<CallTreePartial> calls = collect_call_tree(source, filter, workers, options, problems);
    if (!calls) return std::unexpected(calls.error());
    return MeasuredTree{*std::move(calls), nullptr, source.clock(), units_of(measure), {}, {}};
  }
  if constexpr (tells_runtime_events<Source>) {
    if (measure == Measure::live_bytes || measure == Measure::live_count)
      return detail::measure_heap(source, measure, filter, workers, options, problems);
    return detail::measure_events(source, measure, filter, workers, options, problems);
  } else {
    return MeasuredTree{CallTreePartial(options), nullptr, Clock{.name = "count"},
                        units_of(measure),        {},      {}};
  }
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
