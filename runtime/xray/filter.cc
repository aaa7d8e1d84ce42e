#include "filter.h"

#include "begin.h"
#include "frequent_functions.h"
#include "syscalls.h"

namespace telltale::recorder {

struct OpenCall {
  uint64_t stack;
  uint64_t entered;
  uint64_t argument;
  uint32_t function;
  uint32_t dropped_inside;  // calls of the same function that are not recorded, without a sled
  bool recorded;
  bool left_out;  // too deep
  bool has_argument;
};
// Calls deeper than this array are recorded without the duration filter.
constexpr uint32_t kMostOpenCalls = 1U << 16;

struct OpenCalls {
  uint32_t depth;
  uint32_t pending;      // calls from here on are not recorded yet, except those left out
  uint32_t epoch;        // State::epoch when they were entered
  uint32_t drop_rounds;  // when `holds_dropped` was set
  bool holds_dropped;    // a function was dropped while a call of it was open here
  bool busy;
  OpenCall calls[kMostOpenCalls];
};

namespace {

using xray::FunctionAction;

uint64_t now() { return state.clock == ClockKind::monotonic ? monotonic_now() : read_counter(); }

OpenCalls* open_calls() {
  if (thread_state.open_calls == nullptr) {
    thread_state.open_calls = static_cast<OpenCalls*>(sys::map_private(sizeof(OpenCalls)));
    thread_state.waited_ns = waited_ns();
    if (thread_state.open_calls != nullptr) thread_state.open_calls->epoch = state.epoch;
  }
  OpenCalls* const open = thread_state.open_calls;
  // Recording was stopped meanwhile: who knows which of these calls have returned.
  if (__builtin_expect(open != nullptr && open->epoch != state.epoch && !open->busy, 0)) {
    open->depth = open->pending = 0;
    open->epoch = state.epoch;
    thread_state.waited_ns = waited_ns();
  }
  return open;
}

// While the thread has no buffer, record_slowly counts.
void leave_out(uint64_t events) {
  Control& control = *thread_state.current;
  if (control.kind == ControlKind::recording || control.kind == ControlKind::ignored) {
    control.count += events;
  } else {
    begin_if_forked();  // otherwise the side record is the parent's, and not mapped here
    __atomic_fetch_add(&state.side->left_out, events, __ATOMIC_RELAXED);
  }
}

void record_entry(OpenCall& call) {
  if (call.has_argument) {
    record_past_argument(head_of(call.function, FunctionAction::enter_args), call.argument,
                         call.entered);
  } else {
    record_read(head_of(call.function, FunctionAction::enter), call.entered);
  }
  call.recorded = true;
}

// Records the entries of calls that have lasted long enough by now, outermost first.
void record_pending(OpenCalls& open, uint64_t time) {
  for (; open.pending < open.depth; ++open.pending) {
    OpenCall& call = open.calls[open.pending];
    if (call.left_out || call.recorded) continue;
    if (time - call.entered < state.min_ticks) break;
    record_entry(call);
  }
}

// An exception or longjmp ended calls whose stack space is in use again.
void drop_ended(OpenCalls& open, uint64_t lowest_live) {
  while (open.depth != 0 && open.calls[open.depth - 1].stack < lowest_live) {
    const OpenCall& call = open.calls[--open.depth];
    if (!call.recorded && !call.left_out) leave_out(1);
  }
  if (open.pending > open.depth) open.pending = open.depth;
}

void enter(OpenCalls& open, uint32_t function, uint64_t stack, bool has_argument,
           uint64_t argument) {
  const uint64_t time = now();
  record_pending(open, time);
  drop_ended(open, stack + 1);
  const bool too_deep = state.options.depth != 0 && open.depth >= state.options.depth;
  if (too_deep) leave_out(1);
  if (open.depth == kMostOpenCalls) {
    if (!too_deep) record_read(head_of(function, FunctionAction::enter), time);
    return;
  }
  OpenCall& call = open.calls[open.depth++];
  call = {stack, time, argument, function, 0, false, too_deep, has_argument};
  if (!too_deep && state.min_ticks == 0) record_entry(call);
}

void leave(OpenCalls& open, uint32_t function, uint64_t stack, FunctionAction action) {
  const uint64_t time = now();
  drop_ended(open, stack);
  OpenCall* const top = open.depth == 0 ? nullptr : &open.calls[open.depth - 1];
  const bool same = top != nullptr && top->stack == stack && top->function == function;
  if (!same) {
    record_pending(open, time);
    record_read(head_of(function, action), time);
    return;
  }
  if (top->left_out) {
    leave_out(1);
  } else if (!top->recorded && time - top->entered < state.min_ticks) {
    leave_out(2);
  } else {
    record_pending(open, time);
    record_read(head_of(function, action), time);
  }
  --open.depth;
  if (open.pending > open.depth) open.pending = open.depth;
}

// Whether a call of a dropped function that was recorded may still be open.
bool may_hold_dropped() {
  const OpenCalls* const open = thread_state.open_calls;
  return open != nullptr && (open->holds_dropped ||
                             open->drop_rounds != __atomic_load_n(&drop_rounds, __ATOMIC_ACQUIRE));
}

// Leaves out an event of a dropped function in the usual case: the thread has a buffer, and no
// recorded call of such a function is open. Calls nothing, so that hooks save few registers.
TELLTALE_HOT bool skip_dropped(uint32_t function) {
  if (!is_dropped(function)) return false;
  const OpenCalls* const open = thread_state.open_calls;
  Control& control = *thread_state.current;
  if (control.kind != ControlKind::recording ||
      (open != nullptr && (open->holds_dropped || open->drop_rounds != drop_rounds))) {
    return false;
  }
  ++control.count;
  return true;
}

void look_for_dropped(OpenCalls& open) {
  open.drop_rounds = __atomic_load_n(&drop_rounds, __ATOMIC_ACQUIRE);
  open.holds_dropped = false;
  for (uint32_t i = 0; i < open.depth && !open.holds_dropped; ++i)
    open.holds_dropped = is_dropped(open.calls[i].function);
}

OpenCall* innermost_call(OpenCalls& open, uint32_t function) {
  for (uint32_t i = open.depth; i-- > 0;) {
    if (open.calls[i].function == function) return &open.calls[i];
  }
  return nullptr;
}

// A handler that interrupts the bookkeeping leaves these events out.
void enter_dropped(uint32_t function) {
  leave_out(1);
  OpenCalls* const open = thread_state.open_calls;
  // Sleds know where their call was entered.
  if (function < xray::kFirstAssignedId || !may_hold_dropped() || open->busy) return;
  if (OpenCall* const call = innermost_call(*open, function); call != nullptr)
    ++call->dropped_inside;
}

// Records the exit only if the entry was recorded: before the function was dropped.
void leave_dropped(OpenCalls& open, uint32_t function, uint64_t stack, FunctionAction action) {
  if (open.drop_rounds != drop_rounds) look_for_dropped(open);
  drop_ended(open, stack);
  const OpenCall* const top = open.depth == 0 ? nullptr : &open.calls[open.depth - 1];
  if (top == nullptr || top->stack != stack || top->function != function) {
    leave_out(1);
    return;
  }
  leave(open, function, stack, action);
  look_for_dropped(open);
}

// A signal handler that interrupts the bookkeeping is recorded unfiltered.
class Bookkeeping {
 public:
  explicit Bookkeeping(OpenCalls& open) : open_(open) { set(true); }
  ~Bookkeeping() { set(false); }
  Bookkeeping(const Bookkeeping&) = delete;
  Bookkeeping& operator=(const Bookkeeping&) = delete;

 private:
  void set(bool busy) {
    asm volatile("" : : : "memory");
    open_.busy = busy;
    asm volatile("" : : : "memory");
  }
  OpenCalls& open_;
};

void leave_filtered(uint32_t function, uint64_t stack, FunctionAction action) {
  OpenCalls* const open = open_calls();
  if (open == nullptr || open->busy) {
    record_slowly(head_of(function, action));
    return;
  }
  const Bookkeeping bookkeeping(*open);
  if (drops_functions() && is_dropped(function)) {
    leave_dropped(*open, function, stack, action);
  } else {
    leave(*open, function, stack, action);
  }
}

}  // namespace

TELLTALE_HOOK __attribute__((noinline, force_align_arg_pointer)) void filtered_enter(
    uint32_t function, uint64_t stack) {
  OpenCalls* const open = open_calls();
  if (open == nullptr || open->busy) {
    record_slowly(head_of(function, FunctionAction::enter));
    return;
  }
  const Bookkeeping bookkeeping(*open);
  enter(*open, function, stack, false, 0);
}
TELLTALE_HOOK __attribute__((noinline, force_align_arg_pointer)) void filtered_argument(
    uint32_t function, uint64_t stack, uint64_t argument) {
  OpenCalls* const open = open_calls();
  if (open == nullptr || open->busy) {
    record_argument_slowly(head_of(function, FunctionAction::enter_args), argument);
    return;
  }
  const Bookkeeping bookkeeping(*open);
  enter(*open, function, stack, true, argument);
}
TELLTALE_HOOK __attribute__((noinline, force_align_arg_pointer)) void filtered_exit(
    uint32_t function, uint64_t stack) {
  leave_filtered(function, stack, FunctionAction::exit);
}
TELLTALE_HOOK __attribute__((noinline, force_align_arg_pointer)) void filtered_tail_exit(
    uint32_t function, uint64_t stack) {
  leave_filtered(function, stack, FunctionAction::tail_exit);
}

namespace {

TELLTALE_HOOK __attribute__((noinline, force_align_arg_pointer)) void enter_dropped_slowly(
    uint32_t function) {
  enter_dropped(function);
}

}  // namespace

bool leaves_out_dropped(uint32_t function) { return skip_dropped(function); }

TELLTALE_HOOK void dropping_enter(uint32_t function, uint64_t stack) {
  if (skip_dropped(function)) return;
  if (is_dropped(function)) {
    enter_dropped_slowly(function);
  } else {
    filtered_enter(function, stack);
  }
}
TELLTALE_HOOK void dropping_argument(uint32_t function, uint64_t stack, uint64_t argument) {
  if (skip_dropped(function)) return;
  if (is_dropped(function)) {
    enter_dropped_slowly(function);
  } else {
    filtered_argument(function, stack, argument);
  }
}
TELLTALE_HOOK void dropping_exit(uint32_t function, uint64_t stack) {
  if (!skip_dropped(function)) filtered_exit(function, stack);
}
TELLTALE_HOOK void dropping_tail_exit(uint32_t function, uint64_t stack) {
  if (!skip_dropped(function)) filtered_tail_exit(function, stack);
}

uint64_t place_of_open_call(uint32_t function, uint64_t place) {
  OpenCalls* const open = thread_state.open_calls;
  if (open == nullptr || open->busy || open->epoch != state.epoch) return place;
  if (drops_functions() && is_dropped(function) && !may_hold_dropped()) return place;
  OpenCall* const call = innermost_call(*open, function);
  if (call == nullptr) return place;
  if (call->dropped_inside == 0) return call->stack;
  --call->dropped_inside;
  return 0;  // of no open call
}

void forget_open_calls() {
  if (thread_state.open_calls == nullptr) return;
  sys::call(SYS_munmap, thread_state.open_calls, sizeof(OpenCalls));
  thread_state.open_calls = nullptr;
}

}  // namespace telltale::recorder
