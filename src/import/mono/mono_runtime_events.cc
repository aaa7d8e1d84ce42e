#include "import/mono/mono_runtime_events.h"

#include <fmt/format.h>

#include <string>

namespace telltale {

RuntimeHeader MonoRuntimeEvents::header() const {
  // Profilers before 1.0 do not describe the machine. Since data version 15, each domain has its
  // own table of types.
  constexpr uint8_t kFirstMajorWithEnvironment = 1;
  constexpr uint8_t kFirstVersionWithTables = 15;
  const mono::FileHeader& file = source_.header();
  RuntimeHeader header;
  header.profiler_version = fmt::format("{}.{}", file.major, file.minor);
  header.data_version = file.version;
  header.pointer_bytes = file.pointer_size;
  if (file.major >= kFirstMajorWithEnvironment) {
    header.environment = {std::string(file.arguments), std::string(file.architecture),
                          std::string(file.operating_system)};
  }
  header.timer_overhead_ns = file.timer_overhead_ns;
  header.startup_ms = file.startup_ms;
  header.pid = file.pid;
  header.port = file.port;
  header.types_by_domain = file.version >= kFirstVersionWithTables;
  return header;
}

RuntimeAnswer MonoRuntimeEvents::runtime_facts(const RuntimeFactsOptions& options,
                                               CallsWanted calls, ProblemLog& problems) const {
  return collect_runtime_facts(source_, options, calls, problems);
}

MprofCalls MonoRuntimeEvents::mprof_calls(const CallFilter& filter, Ticks zero, size_t workers,
                                          ProblemLog& problems) const {
  return compute_mprof_calls(source_, filter, zero, workers, problems);
}

EventStacks MonoRuntimeEvents::event_stacks(const EventStacksOptions& options,
                                            ProblemLog& problems) const {
  return collect_event_stacks(source_, options, problems);
}

RuntimeTimeline MonoRuntimeEvents::runtime_timeline(const CallFilter& filter, size_t workers,
                                                    ProblemLog& problems) const {
  return collect_runtime_timeline(source_, filter, workers, problems);
}

WeightedStacks MonoRuntimeEvents::weighted_stacks(StackMetric weighed, const CallFilter& filter,
                                                  size_t workers, ProblemLog& problems) const {
  return collect_weighted_stacks(source_, weighed, filter, workers, problems);
}

std::vector<HeapGraph> MonoRuntimeEvents::last_heap_graphs(
    const CallFilter& filter, size_t workers, ProblemLog& problems,
    std::vector<HeapShotLeftOut>* left_out) const {
  return telltale::last_heap_graphs(source_, filter, workers, problems, left_out);
}

void MonoRuntimeEvents::track_objects(ObjectTracking& tracking) const {
  source_.play_in_file_order(tracking);
}

}  // namespace telltale
