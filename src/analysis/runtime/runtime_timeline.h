#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/calls/play_threads.h"
#include "analysis/calls/stack_table.h"
#include "analysis/calls/thread_stack.h"
#include "analysis/runtime/counter_values.h"
#include "analysis/runtime/gc_collections.h"
#include "analysis/runtime/program_end.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/event_source.h"
#include "model/runtime_events.h"

namespace telltale {

// A managed runtime over time: pauses, collections, waits, exceptions, heap sizes, counters,
// threads. docs/analysis/runtime-timeline.md. Times are ticks of the recording's clock. A part:
// append() merges threads in any order, finish() sorts by time. Memory depends on the number of the
// events named here, not on calls or allocations.
struct RuntimeTimeline {
  // The world is stopped from `stopped` to `restarting`; threads are delayed from `begin` to `end`.
  // Each pause is recorded by the thread that collects.
  struct Pause {
    Ticks begin = 0;  // the collector asks all threads to stop
    std::optional<Ticks> stopped = {};
    std::optional<Ticks> restarting = {};
    std::optional<Ticks> end = {};  // empty: the recording ends earlier
    size_t stream = 0;
    uint8_t generation = 0;  // the oldest collected
    uint64_t collections = 0;
    bool shutdown = false;  // the program had ended: docs/analysis/runtime-timeline.md
    [[nodiscard]] Ticks length() const { return end ? *end - begin : 0; }
  };
  struct HeapSize {
    Ticks time = 0;
    uint64_t bytes = 0;
    size_t stream = 0;
  };
  struct Wait {
    Ticks begin = 0;
    std::optional<Ticks> end = {};  // empty: still waiting at the end of the recording
    size_t stream = 0;
    ObjectId object{};
    bool acquired = false;
    StackTable::Id stack{};
  };
  struct Throw {
    Ticks time = 0;
    size_t stream = 0;
    StackTable::Id stack{};
  };
  struct Shot {
    Ticks begin = 0;
    Ticks end = 0;
    uint64_t objects = 0;
    uint64_t bytes = 0;
    size_t stream = 0;
    bool ended = false;  // and undamaged; otherwise an unknown part of it is recorded
  };
  struct Thread {
    std::optional<Ticks> started = {};  // as recorded by the runtime
    std::optional<Ticks> ended = {};
    // The following are of the events that begin in the filter's window of time.
    Ticks first = 0;  // the thread's own events
    Ticks last = 0;
    uint64_t calls = 0;
    uint64_t allocations = 0;
    uint64_t allocated_bytes = 0;
    uint64_t throws = 0;
    uint64_t waits = 0;
    Ticks waited = 0;
    bool any = false;       // there was an event
    bool profiler = false;  // one of the profiler's own, by its name
  };

  StackTable stacks;
  std::vector<Pause> pauses;
  std::vector<GcCollection> collections;
  std::vector<HeapSize> heap_sizes;
  std::vector<Wait> waits;
  std::vector<Throw> throws;
  std::vector<Shot> shots;
  std::map<size_t, Thread> threads;  // by stream
  CounterValues counters;
  ProgramEnd program_end;
  std::vector<CollectionMark> collection_marks;  // from which `collections` is computed
  // By stream: when the program was last active (calls, allocations, exceptions, contentions).
  std::map<size_t, Ticks> last_activity;
  unsigned address_bits = 64;  // of the waits' objects, as in PieceEvent

  void append(RuntimeTimeline&& next);
  void finish(std::span<const EventStream> streams);

 private:
  // Whether the program of a process had ended before its last pause, as far as its end is not
  // recorded.
  [[nodiscard]] bool had_ended(const Pause& last, size_t process,
                               std::span<const EventStream> streams) const;
};

// Handles all shards of one thread.
class RuntimeTimelineSink : public IgnoreEvents {
 public:
  RuntimeTimelineSink(const CallFilter& filter, PlayedWindow window, size_t stream,
                      const FunctionNames& names)
      : window_(window), stream_(stream), stack_(all_.stacks, filter, names) {}
  RuntimeTimelineSink(const RuntimeTimelineSink&) = delete;
  RuntimeTimelineSink& operator=(const RuntimeTimelineSink&) = delete;

  void enter(Ticks time, FunctionId function) {
    stack_.enter(time, function);
    thread_.calls += static_cast<uint64_t>(window_.holds(time));
    program_event(time);
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    stack_.leave(function, how);
    program_event(time);
  }
  void on(const PieceEvent& event) {
    all_.address_bits = event.address_bits;
    shot_is_damaged_ = shot_is_damaged_ || event.after_loss;
    all_.counters.on(event);
    all_.program_end.on(event);
  }
  void on(const AllocationEvent& event) {
    if (window_.holds(event.time)) {
      ++thread_.allocations;
      thread_.allocated_bytes += event.bytes;
    }
    program_event(event.time);
  }
  void on(const CollectionEvent& event);
  void on(const HeapResized& event) {
    all_.heap_sizes.push_back({event.time, event.bytes, stream_});
  }
  void on(const MonitorEvent& event);
  void on(const ThrowEvent& event) {
    thread_.throws += static_cast<uint64_t>(window_.holds(event.time));
    all_.throws.push_back({event.time, stream_, stack_.of(event.stack)});
    program_event(event.time);
  }
  void on(const HeapShotEvent& event);
  void on(const HeapObjectEvent& event) {
    if (!in_shot_ || event.bytes == 0) return;
    ++all_.shots.back().objects;
    all_.shots.back().bytes += event.bytes;
  }
  void on(const LoadEvent& event);
  void on(const CounterDescribed& event) { all_.counters.on(event); }
  void on(const CounterEvent& event) { all_.counters.on(event); }

  void loss(const LossEvent&) { shot_is_damaged_ = true; }

  RuntimeTimeline take();

 private:
  void seen(Ticks time) {
    if (!window_.holds(time)) return;
    if (!thread_.any) thread_.first = time;
    thread_.any = true;
    thread_.last = time;
  }
  void program_event(Ticks time) {
    seen(time);
    last_program_event_ = time;
  }

  PlayedWindow window_;
  size_t stream_;
  RuntimeTimeline all_;
  ThreadStack stack_;  // refers to all_
  RuntimeTimeline::Thread thread_;
  Ticks last_program_event_ = 0;
  std::optional<RuntimeTimeline::Pause> pause_;
  std::optional<RuntimeTimeline::Wait> wait_;
  bool in_shot_ = false;
  bool shot_is_damaged_ = false;
};

// Threads in parallel; the result does not depend on the number of workers. Only the filter's
// selection of frames (functions, depth) applies here, and its times to what a thread did; output
// selects the times of other things, and threads.
template <EventSource Source>
RuntimeTimeline collect_runtime_timeline(const Source& source, const CallFilter& filter,
                                         size_t workers, ProblemLog& problems) {
  RuntimeTimeline all;
  const PlayedWindow window = window_of(source, filter);
  play_threads(
      source, workers,
      [&](size_t stream) {
        return RuntimeTimelineSink(filter, window, stream, source.functions());
      },
      [&all](RuntimeTimeline&& part) { all.append(std::move(part)); }, problems);
  all.finish(source.streams());
  return all;
}

}  // namespace telltale
