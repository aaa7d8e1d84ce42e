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

// Where things happened: sums by stack of allocations, exceptions, contentions, handles and calls.
// A stack is the one that the event carries or, if it has none, what the thread's own enter and
// leave events say. docs/analysis/mono.md, "traces".
struct EventStacks {
  static constexpr size_t kHandleKinds = 4;  // as HandleEvent::Kind

  StackTable stacks;
  StackSums allocations;  // by type; values are bytes
  StackSums throws;       // all of one owner, 0
  StackSums contentions;  // by object
  StackSums calls;        // by function; the stacks are those of the callers
  std::array<StackSums, kHandleKinds> handles_created;  // of one owner, 0
  std::array<StackSums, kHandleKinds> handles_destroyed;
  // True for stacks that events carried, which is all of them but those of calls, or none.
  bool recorded = false;

  void append(const EventStacks& next);
};

struct EventStacksOptions {
  CallFilter filter;  // times are counted from `zero`
  Ticks zero = 0;
  size_t workers = 0;
  bool calls = true;
  bool like_mprof = false;  // which exits find their call, what --thread and --time concern
};

// Hears all units of one thread.
class EventStacksSink : public IgnoreEvents {
 public:
  EventStacksSink(const EventStacksOptions& options, const FunctionNames& names, bool kept);

  void enter(Ticks time, FunctionId function);
  void leave(Ticks time, FunctionId function, LeaveKind how);
  void on(const AllocationEvent& event) {
    if ((kept_ || options_.like_mprof) && in_window(event.time))
      all_.allocations.add(to_number(event.type), stack_of(event.stack), event.bytes);
  }
  void on(const ThrowEvent& event) {
    if (kept_ && in_window(event.time)) all_.throws.add(0, stack_of(event.stack), 1);
  }
  void on(const MonitorEvent& event) {
    // Where stacks are not recorded, mprof-report counts the end of a wait, too.
    const bool counts =
        event.kind == MonitorEvent::Kind::contended || (options_.like_mprof && !event.stack.known);
    if (counts && kept_ && in_window(event.time))
      all_.contentions.add(to_number(event.object), stack_of(event.stack), 1);
  }
  void on(const HandleEvent& event) {
    const auto kind = static_cast<size_t>(event.kind);
    if (kind >= EventStacks::kHandleKinds || !in_window(event.time)) return;
    if (!kept_ && !options_.like_mprof) return;
    StackSums& sums = event.created ? all_.handles_created[kind] : all_.handles_destroyed[kind];
    sums.add(0, stack_of(event.stack), 1);
  }
  EventStacks take() { return std::move(all_); }

 private:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    StackTable::Id stack = StackTable::Id::empty;
  };
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
  EventStacks all_;
};

// Works on one thread's events at a time, threads side by side. Memory: the distinct stacks.
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
