#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/calls/play_threads.h"
#include "analysis/calls/stack_table.h"
#include "analysis/calls/thread_stack.h"
#include "analysis/heap/heap_shots.h"
#include "analysis/runtime/compiled_code.h"
#include "analysis/runtime/loaded_types.h"
#include "analysis/runtime/program_end.h"
#include "analysis/runtime/stack_sums.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/event_source.h"
#include "model/runtime_events.h"

namespace telltale {

// What is summed by stack. docs/analysis/weighted-stacks.md.
enum class StackMetric : uint8_t {
  allocations,  // value: bytes; owner: the type
  samples,      // value: 1; owner: the address of the native code, 0 if none
  throws,       // value: 1; owner: the exception's type, 0 if unknown
  waits,        // value: ticks that a thread waited for a lock; owner: 0
};

// Sums by thread, owner and stack: the common route from events with a value to flame graphs,
// folded stacks and profiles, for every source of such events. A part: append() in any order of
// threads.
struct WeightedStacks {
  struct NativeSymbol {
    uint64_t place = 0;  // in the input; the last one counts
    std::string name;
  };
  StackTable stacks;
  std::map<size_t, StackSums> by_stream;     // by index into EventSource::streams()
  LoadedTypes types;                         // of allocations and throws
  CompiledCode code;                         // of samples
  std::map<uint64_t, NativeSymbol> symbols;  // of samples, by address

  HeapShots shots;      // of allocations: the live objects
  ProgramEnd end;       // of allocations: identifies shots at a program's exit
  PlayedWindow window;  // that the sums, but not the heap shots, are limited to

  void append(WeightedStacks&& next);
};

// Handles all shards of one thread.
class WeightedStacksSink : public IgnoreEvents {
 public:
  // `kept`: the filter keeps the thread (samples name their thread). References outlive this.
  WeightedStacksSink(StackMetric metric, const CallFilter& filter, PlayedWindow window,
                     std::span<const EventStream> streams, size_t stream,
                     const FunctionNames& names)
      : metric_(metric),
        filter_(filter),
        window_(window),
        streams_(streams),
        stream_(stream),
        kept_(filter.keeps_thread(streams[stream].thread)),
        stack_(all_.stacks, filter, names) {}
  WeightedStacksSink(const WeightedStacksSink&) = delete;
  WeightedStacksSink& operator=(const WeightedStacksSink&) = delete;

  void enter(Ticks time, FunctionId function) { stack_.enter(time, function); }
  void leave(Ticks, FunctionId function, LeaveKind how) { stack_.leave(function, how); }

  void on(const PieceEvent& event) {
    place_ = event.offset;
    all_.types.on(event);
    all_.code.on(event);
    all_.shots.on(event);
    all_.end.on(event);
  }
  void on(const LoadEvent& event) {
    if (metric_ == StackMetric::allocations) all_.end.on(event);
    if (metric_ == StackMetric::allocations || metric_ == StackMetric::throws) all_.types.on(event);
  }
  void on(const AllocationEvent& event) {
    if (metric_ == StackMetric::throws)
      recent_[next_recent_++ % recent_.size()] = {to_number(event.object), to_number(event.type)};
    if (metric_ == StackMetric::allocations && chosen(event.time))
      add(to_number(event.type), event.stack, event.bytes);
  }
  void on(const HeapShotEvent& event) {
    if (metric_ == StackMetric::allocations) all_.shots.on(event);
  }
  void loss(const LossEvent& event) { all_.shots.loss(event); }
  void on(const HeapObjectEvent& event) {
    if (metric_ == StackMetric::allocations) all_.shots.on(event);
  }
  void on(const ThrowEvent& event) {
    if (metric_ == StackMetric::throws && chosen(event.time))
      add(type_of_recent(to_number(event.object)), event.stack, 1);
  }
  void on(const MonitorEvent& event);
  void on(const SampleEvent& event);
  void on(const CompiledEvent& event) {
    if (metric_ == StackMetric::samples) all_.code.on(event);
  }
  void on(const NativeSymbolEvent& event) {
    if (metric_ == StackMetric::samples)
      all_.symbols.insert_or_assign(event.address,
                                    WeightedStacks::NativeSymbol{place_, std::string(event.name)});
  }

  WeightedStacks take() { return std::move(all_); }

 private:
  struct Wait {
    StackTable::Id stack{};
    Ticks since = 0;
  };
  struct Recent {
    uint64_t object = 0;
    uint64_t type = 0;
  };
  [[nodiscard]] bool chosen(Ticks time) const { return kept_ && window_.holds(time); }
  void add(uint64_t owner, const RecordedStack& stack, uint64_t value) {
    all_.by_stream[stream_].add(owner, stack_.of(stack), value);
  }
  [[nodiscard]] uint64_t type_of_recent(uint64_t object) const;
  [[nodiscard]] size_t stream_of(int64_t tid) const;

  StackMetric metric_;
  const CallFilter& filter_;
  PlayedWindow window_;
  std::span<const EventStream> streams_;
  size_t stream_;
  bool kept_;
  uint64_t place_ = 0;
  WeightedStacks all_;
  ThreadStack stack_;  // refers to all_
  std::optional<Wait> waiting_;
  // The thread's last allocations: an exception is usually thrown soon after its allocation.
  std::array<Recent, 64> recent_{};
  size_t next_recent_ = 0;
};

// Processes one thread's events at a time, threads in parallel; the result does not depend on the
// number of workers. Adds unreadable input to `problems`. Memory: the distinct stacks.
template <EventSource Source>
WeightedStacks collect_weighted_stacks(const Source& source, StackMetric metric,
                                       const CallFilter& filter, size_t workers,
                                       ProblemLog& problems) {
  WeightedStacks all;
  const PlayedWindow window = window_of(source, filter);
  all.window = window;
  play_threads(
      source, workers,
      [&](size_t stream) {
        return WeightedStacksSink(metric, filter, window, source.streams(), stream,
                                  source.functions());
      },
      [&all](WeightedStacks&& part) { all.append(std::move(part)); }, problems);
  return all;
}

}  // namespace telltale
