#pragma once

#include "import/mono/mono_recording.h"
#include "import/runtime_events.h"

namespace telltale {

// The runtime events of a Mono recording.
class MonoRuntimeEvents final : public RuntimeEvents {
 public:
  // Both must outlive it; `calls` are of `source`.
  MonoRuntimeEvents(const MonoRecording& source, const TimedCalls& calls)
      : source_(source), calls_(calls) {}

  [[nodiscard]] const TimedCalls& calls() const override { return calls_; }
  [[nodiscard]] RuntimeHeader header() const override;
  [[nodiscard]] Ticks first_buffer_time() const override { return source_.first_buffer_time(); }
  [[nodiscard]] const TypeNames& types() const override { return source_.types(); }
  [[nodiscard]] uint64_t address_of(uint64_t id) const override { return source_.address_of(id); }
  [[nodiscard]] std::vector<uint64_t> ids_of(uint64_t address) const override {
    return source_.ids_of(address);
  }
  [[nodiscard]] size_t process_of(uint64_t id) const override { return source_.process_of(id); }

  [[nodiscard]] RuntimeAnswer runtime_facts(const RuntimeFactsOptions& options, CallsWanted calls,
                                            ProblemLog& problems) const override;
  [[nodiscard]] MprofCalls mprof_calls(const CallFilter& filter, Ticks zero, size_t workers,
                                       ProblemLog& problems) const override;
  [[nodiscard]] EventStacks event_stacks(const EventStacksOptions& options,
                                         ProblemLog& problems) const override;
  [[nodiscard]] RuntimeTimeline runtime_timeline(const CallFilter& filter, size_t workers,
                                                 ProblemLog& problems) const override;
  [[nodiscard]] WeightedStacks weighted_stacks(StackMetric weighed, const CallFilter& filter,
                                               size_t workers, ProblemLog& problems) const override;
  [[nodiscard]] std::vector<HeapGraph> last_heap_graphs(
      const CallFilter& filter, size_t workers, ProblemLog& problems,
      std::vector<HeapShotLeftOut>* left_out) const override;
  void track_objects(ObjectTracking& tracking) const override;
  [[nodiscard]] EventSizes event_sizes(size_t workers, ProblemLog& problems) const override {
    return source_.event_sizes(workers, problems);
  }

 private:
  const MonoRecording& source_;
  const TimedCalls& calls_;
};

}  // namespace telltale
