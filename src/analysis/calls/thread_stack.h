#pragma once

#include "analysis/calls/numbered_stacks.h"
#include "analysis/calls/stack_table.h"
#include "model/call_filter.h"
#include "model/open_calls.h"
#include "model/runtime_events.h"

namespace telltale {

// The stack of one thread at the current event, as a number of a StackTable: the recorded one or,
// if the event has none, the one derived from the thread's enter and leave events. Excludes calls
// that the filter removes (by function, by depth).
class ThreadStack {
 public:
  // References outlive this.
  ThreadStack(StackTable& stacks, const CallFilter& filter, const FunctionNames& names)
      : stacks_(stacks), max_depth_(filter.max_depth), functions_(filter, names) {}

  void enter(Ticks time, FunctionId function) {
    calls_.enter({function, time, push(current(), function, calls_.frames().size())});
  }
  void leave(FunctionId function, LeaveKind how) {
    calls_.leave(function, how, [](Frame&, CloseKind, size_t) {});
  }
  StackTable::Id of(const RecordedStack& stack) {
    if (!stack.known) return current();
    return numbered_.of(stack, [&] {
      StackTable::Id id = StackTable::Id::empty;
      size_t depth = 0;
      for (const FunctionId function : stack.functions) id = push(id, function, depth++);
      return id;
    });
  }

 private:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    StackTable::Id stack = StackTable::Id::empty;
  };
  [[nodiscard]] StackTable::Id current() const {
    return calls_.frames().empty() ? StackTable::Id::empty : calls_.frames().back().stack;
  }
  StackTable::Id push(StackTable::Id caller, FunctionId function, size_t depth) {
    return depth < max_depth_ && functions_.keeps(function) ? stacks_.push(caller, function)
                                                            : caller;
  }

  StackTable& stacks_;
  size_t max_depth_;
  FunctionFilter functions_;
  OpenCalls<Frame> calls_;
  NumberedStacks<StackTable::Id> numbered_;
};

}  // namespace telltale
