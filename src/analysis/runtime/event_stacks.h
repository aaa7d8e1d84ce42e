#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/calls/in_order.h"
#include "analysis/calls/stack_table.h"
#include "analysis/calls/time_window.h"
#include "analysis/runtime/stack_sums.h"
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
  FramesKept frames_kept;  // of recorded stacks

  // Each counts an event where the thread is in `current`, if its own stack is not recorded.
  void count(const AllocationEvent& event, StackTable::Id current) {
    allocations.add(to_number(event.type), stack_of(event.stack, current), event.bytes);
  }
  void count(const ThrowEvent& event, StackTable::Id current) {
    throws.add(0, stack_of(event.stack, current), 1);
  }
  void count(const MonitorEvent& event, StackTable::Id current) {
    contentions.add(to_number(event.object), stack_of(event.stack, current), 1);
  }
  void count(const HandleEvent& event, StackTable::Id current) {
    const auto kind = static_cast<size_t>(event.kind);
    if (kind >= kHandleKinds) return;
    StackSums& sums = event.created ? handles_created[kind] : handles_destroyed[kind];
    sums.add(0, stack_of(event.stack, current), 1);
  }
  // By stack: how often its innermost call was made.
  void count_calls(const std::vector<uint64_t>& made);

  // Returns what stacks of `next` are called here. `bases`: StackTable::merge.
  std::vector<StackTable::Id> append(const EventStacks& next,
                                     std::span<const StackTable::Id> bases = {});

 private:
  StackTable::Id stack_of(const RecordedStack& stack, StackTable::Id current) {
    if (!stack.known) return current;
    recorded = true;
    return stacks.intern(stack, [this](auto functions) { return frames_kept.of(functions); });
  }
};

struct EventStacksOptions {
  // Times are relative to `zero`. --function and --depth select calls, and not stacks of events.
  CallFilter filter;
  Ticks zero = 0;
  size_t workers = 0;
  bool calls = true;
  bool like_mprof = false;  // which exits match calls, what --thread and --time apply to
  FramesKept frames_kept;   // of recorded stacks
};

// Handles all shards of one thread.
class EventStacksSink : public IgnoreEvents {
 public:
  EventStacksSink(const EventStacksOptions& options, const FunctionNames& names, bool kept);

  [[gnu::always_inline]] void enter(Ticks time, FunctionId function) {
    if (options_.like_mprof && (!kept_ || !in_window(time))) return;
    const StackTable::Id caller = current();
    const StackTable::Id stack = make_call(time, function);
    calls_.enter(
        {function, time, stack, selects_functions_ ? all_.stacks.push(caller, function) : stack});
  }
  [[gnu::always_inline]] void leave(Ticks time, FunctionId function, LeaveKind how) {
    if (options_.like_mprof) {
      if (!kept_ || !in_window(time)) return;
      if (calls_.frames().empty() || calls_.frames().back().function != function) return;
    }
    calls_.leave(function, how, [](Frame&, CloseKind, size_t) {});
  }
  // A call without calls inside leaves the open calls as they are.
  struct Run {
    using Function = FunctionId;
    EventStacksSink& sink;
    explicit Run(EventStacksSink& to) : sink(to) {}
    Function find(FunctionId function) { return function; }
    [[gnu::always_inline]] void enter(Ticks time, FunctionId function) {
      sink.enter(time, function);
    }
    [[gnu::always_inline]] void leave(Ticks time, FunctionId function, LeaveKind how) {
      sink.leave(time, function, how);
    }
    [[gnu::always_inline]] void leaf(Ticks entered, Ticks left, FunctionId function) {
      if (sink.options_.like_mprof) [[unlikely]] {  // which may see one of the two
        sink.enter(entered, function);
        sink.leave(left, function, LeaveKind::normal);
      } else {
        sink.make_call(entered, function);
      }
    }
    void end(uint64_t /*events*/, Ticks /*latest*/) {}
  };
  void on(const AllocationEvent& event) {
    if ((kept_ || options_.like_mprof) && in_window(event.time)) all_.count(event, current());
  }
  void on(const ThrowEvent& event) {
    if (kept_ && in_window(event.time)) all_.count(event, current());
  }
  void on(const MonitorEvent& event) {
    // If stacks are not recorded, mprof-report also counts the end of a wait.
    const bool counts =
        event.kind == MonitorEvent::Kind::contended || (options_.like_mprof && !event.stack.known);
    if (counts && kept_ && in_window(event.time)) all_.count(event, current());
  }
  void on(const HandleEvent& event) {
    if ((kept_ || options_.like_mprof) && in_window(event.time)) all_.count(event, current());
  }
  // Takes these calls, outermost first, as open, without counting them. REQUIRES: none is open.
  void assume_open(std::span<const FunctionId> functions);
  [[nodiscard]] std::vector<FunctionId> open_functions() const;
  EventStacks take();

 private:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    StackTable::Id stack = StackTable::Id::empty;  // of the calls that are shown
    StackTable::Id whole = StackTable::Id::empty;  // of all calls
  };
  // Counts a call from where the thread is; returns the stack with it, or without if it is not
  // shown.
  [[gnu::always_inline]] StackTable::Id make_call(Ticks time, FunctionId function) {
    const StackTable::Id caller =
        calls_.frames().empty() ? StackTable::Id::empty : calls_.frames().back().stack;
    const bool shown =
        options_.like_mprof || (calls_.frames().size() < options_.filter.max_depth &&
                                (options_.filter.functions.empty() || functions_.keeps(function)));
    if (!shown) [[unlikely]]
      return caller;
    const StackTable::Id stack = all_.stacks.push(caller, function);
    if (options_.calls && kept_ && in_window(time)) {
      const auto number = static_cast<uint32_t>(stack);
      if (number >= calls_made_.size()) [[unlikely]]
        calls_made_.resize(2 * all_.stacks.size());
      ++calls_made_[number];
    }
    return stack;
  }
  [[nodiscard]] bool in_window(Ticks time) const { return window_.holds(time); }
  // Where events are: recorded stacks of others are whole, too.
  [[nodiscard]] StackTable::Id current() const {
    return calls_.frames().empty() ? StackTable::Id::empty : calls_.frames().back().whole;
  }
  const EventStacksOptions& options_;
  FunctionFilter functions_;
  bool selects_functions_;  // not all calls are shown
  TimeWindow window_;
  bool kept_;  // the thread, by the filter
  OpenCalls<Frame> calls_;
  std::vector<uint64_t> calls_made_;  // of the innermost call, by stack
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
  const auto take = [&](size_t, EventStacks&& stacks) { (void)all.append(stacks); };
  InOrder<EventStacks, decltype(take)> in_order(streams.size(), take);
  parallel_for(streams.size(), workers, [&](size_t stream, size_t worker) {
    EventStacksSink sink(options, source.functions(),
                         options.filter.keeps_thread(streams[stream].thread));
    for (size_t shard = 0; shard < streams[stream].shards; ++shard)
      source.play(stream, shard, sink, logs[worker]);
    in_order.put(stream, sink.take());
  });
  for (const ProblemLog& log : logs) problems.merge(log);
  return all;
}

}  // namespace telltale
