#include "output/tree/measure_paths.h"

#include <memory>
#include <optional>
#include <utility>

#include "analysis/heap/heap_retention.h"

namespace telltale {
namespace {

MeasuredTree measure_events(const RuntimeAnswers& runtime, Measure measure,
                            const CallFilter& filter, size_t workers,
                            const CallTreeOptions& options, const FunctionNames& functions,
                            const Clock& clock, std::span<const EventStream> streams,
                            ProblemLog& problems) {
  StackMetric metric = StackMetric::allocations;
  if (measure == Measure::samples) metric = StackMetric::samples;
  if (measure == Measure::throws) metric = StackMetric::throws;
  if (measure == Measure::blocked) metric = StackMetric::waits;
  WeightedStacks stacks = runtime.weighted_stacks(metric, filter, workers, problems);
  auto names = std::make_unique<FrameNames>(functions);
  const WeightOf weight = measure == Measure::alloc_count ? WeightOf::count : WeightOf::value;
  CallTreePartial partial = weighted_tree(stacks, metric, weight, options, *names);
  std::vector<LiveType> live = last_live_types(stacks, streams, *names);
  return {std::move(partial),
          std::move(names),
          measure == Measure::blocked ? clock : Clock{.name = "count"},
          units_of(measure),
          std::move(live),
          {}};
}

MeasuredTree measure_heap(const RuntimeAnswers& runtime, Measure measure, const CallFilter& filter,
                          size_t workers, const CallTreeOptions& options,
                          const FunctionNames& functions, ProblemLog& problems) {
  auto names = std::make_unique<FrameNames>(functions);
  CallTreePartial partial(options);
  std::vector<HeapShotLeftOut> left_out;
  const WeightOf weight = measure == Measure::live_count ? WeightOf::count : WeightOf::value;
  bool is_first = true;
  for (const HeapGraph& graph : runtime.last_heap_graphs(filter, workers, problems, &left_out)) {
    CallTreePartial of_process =
        retention_tree(explain_heap(graph, options.max_depth, *names), weight, options.max_depth);
    if (std::exchange(is_first, false)) {
      partial = std::move(of_process);
    } else {
      partial.merge(of_process);
    }
  }
  return {std::move(partial), std::move(names), Clock{.name = "count"}, units_of(measure), {},
          std::move(left_out)};
}

}  // namespace

MeasuredTree measure_runtime(const RuntimeAnswers& runtime, Measure measure,
                             const CallFilter& filter, size_t workers,
                             const CallTreeOptions& options, const FunctionNames& functions,
                             const Clock& clock, std::span<const EventStream> streams,
                             ProblemLog& problems) {
  if (measure == Measure::live_bytes || measure == Measure::live_count)
    return measure_heap(runtime, measure, filter, workers, options, functions, problems);
  return measure_events(runtime, measure, filter, workers, options, functions, clock, streams,
                        problems);
}

}  // namespace telltale
