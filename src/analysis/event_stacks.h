#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/in_order.h"
#include "analysis/stack_sums.h"
#include "analysis/stack_table.h"
#include "analysis/time_window.h"
#include "base/parallel.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/event_source.h"
#include "model/open_calls.h"
#include "model/runtime_events.h"

namespace telltale {

// Sums by stack of allocations, exceptions, contentions, handles and calls. An event's stack is the
// recorded one or, if it has none, derived from the thread's own enter and leave events.
// docs/analysis/mono.md, "traces".
struct EventStacks {
  static constexpr size_t kHandleKinds = 4;  // as HandleEvent::Kind

  StackTable stacks;
  StackSums allocations;  // by type; values are bytes
  StackSums throws;       // all of one owner, 0
  StackSums contentions;  // by object
  StackSums calls;        // by function; the stacks are those of the callers
  std::array<StackSums, kHandleKinds> handles_created;  // of one owner, 0
  std::array<StackSums, kHandleKinds> handles_destroyed;
  // True if the stacks (except those of calls) were recorded with their events, or there are none.
  bool recorded = false;

  void append(const EventStacks& next);
};

struct EventStacksOptions {
  CallFilter filter;  // times are relative to `zero`
  Ticks zero = 0;
  size_t workers = 0;
  bool calls = true;
  bool like_mprof = false;  // which exits match calls, what --thread and --time apply to
};

// Handles all units of one thread.
class EventStacksSink : public IgnoreEvents {
 public:
  EventStacksSink(const EventStacksOptions& options, const FunctionNames& names, bool kept);

  [[gnu::always_inline]] void enter(Ticks time, FunctionId function) {
    if (options_.like_mprof && (!kept_ || !in_window(time))) return;
    const StackTable::Id caller = current();
    const bool shown = options_.like_mprof || (calls_.frames().size() < options_.filter.max_depth &&
                                               functions_.keeps(function));
    const StackTable::Id stack = shown ? push(caller, function) : caller;
    calls_.enter({function, time, stack});
    if (options_.calls && shown && kept_ && in_window(time)) ++known_[to_number(stack)].calls;
  }
  [[gnu::always_inline]] void leave(Ticks time, FunctionId function, LeaveKind how) {
    if (options_.like_mprof) {
      if (!kept_ || !in_window(time)) return;
      if (calls_.frames().empty() || calls_.frames().back().function != function) return;
    }
    calls_.leave(function, how, [](Frame&, CloseKind, size_t) {});
  }
  void on(const AllocationEvent& event) {
    if ((kept_ || options_.like_mprof) && in_window(event.time))
      all_.allocations.add(telltale::to_number(event.type), stack_of(event.stack), event.bytes);
  }
  void on(const ThrowEvent& event) {
    if (kept_ && in_window(event.time)) all_.throws.add(0, stack_of(event.stack), 1);
  }
  void on(const MonitorEvent& event) {
    // If stacks are not recorded, mprof-report also counts the end of a wait.
    const bool counts =
        event.kind == MonitorEvent::Kind::contended || (options_.like_mprof && !event.stack.known);
    if (counts && kept_ && in_window(event.time))
      all_.contentions.add(telltale::to_number(event.object), stack_of(event.stack), 1);
  }
  void on(const HandleEvent& event) {
    const auto kind = static_cast<size_t>(event.kind);
    if (kind >= EventStacks::kHandleKinds || !in_window(event.time)) return;
    if (!kept_ && !options_.like_mprof) return;
    StackSums& sums = event.created ? all_.handles_created[kind] : all_.handles_destroyed[kind];
    sums.add(0, stack_of(event.stack), 1);
  }
  EventStacks take();

 private:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    StackTable::Id stack = StackTable::Id::empty;
  };
  // Facts about a stack of open calls.
  struct Known {
    uint64_t calls = 0;  // number of calls of its innermost function
    // The stacks with one more call inside that were looked up last: of functions with even and
    // with odd numbers.
    struct Inner {
      FunctionId function{};
      StackTable::Id stack = StackTable::Id::empty;
    };
    std::array<Inner, 2> inner{};
  };
  static uint32_t to_number(StackTable::Id stack) { return static_cast<uint32_t>(stack); }
  [[gnu::always_inline]] StackTable::Id push(StackTable::Id caller, FunctionId function) {
    const Known::Inner& inner =
        known_[to_number(caller)].inner[static_cast<uint32_t>(function) & 1];
    if (inner.stack != StackTable::Id::empty && inner.function == function) [[likely]]
      return inner.stack;
    return push_other(caller, function);
  }
  StackTable::Id push_other(StackTable::Id caller, FunctionId function);
  [[nodiscard]] bool in_window(Ticks time) const { return window_.holds(time); }
  [[nodiscard]] StackTable::Id current() const {
    return calls_.frames().empty() ? StackTable::Id::empty : calls_.frames().back().stack;
  }
  StackTable::Id stack_of(const RecordedStack& stack) {
    if (!stack.known) return current();
    all_.recorded = true;
    return all_.stacks.intern(stack.functions);
  }

  const EventStacksOptions& options_;
  FunctionFilter functions_;
  TimeWindow window_;
  bool kept_;  // the thread, by the filter
  OpenCalls<Frame> calls_;
  std::vector<Known> known_{Known()};  // by stack, as far as stacks were pushed
  EventStacks all_;
};

// Processes one thread's events at a time, threads in parallel. Memory: the distinct stacks.
template <EventSource Source>
EventStacks collect_event_stacks(const Source& source, const EventStacksOptions& options,
                                 ProblemLog& problems) {
  const size_t workers = worker_count(options.workers);
  const auto streams = source.streams();
  std::vector<ProblemLog> logs(workers);
  EventStacks all;
  const auto take = [&](size_t, EventStacks&& stacks) { all.append(stacks); };
  InOrder<EventStacks, decltype(take)> in_order(streams.size(), take);
  parallel_for(streams.size(), workers, [&](size_t stream, size_t worker) {
    EventStacksSink sink(options, source.functions(),
                         options.filter.keeps_thread(streams[stream].thread));
    for (size_t unit = 0; unit < streams[stream].units; ++unit)
      source.play(stream, unit, sink, logs[worker]);
    in_order.put(stream, sink.take());
  });
  for (const ProblemLog& log : logs) problems.merge(log);
  return all;
}

}  // namespace telltale
