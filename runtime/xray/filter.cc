#include "filter.h"

#include "begin.h"
#include "syscalls.h"

namespace telltale::recorder {

struct OpenCall {
  uint64_t stack = 0;
  uint64_t entered = 0;
  uint64_t argument = 0;
  uint64_t hook_return = 0;  // gcc's hooks: where the program called the hook; otherwise 0
  uint64_t call_site = 0;    // gcc's hooks: where the call returns to; otherwise 0
  uint32_t function = 0;
  bool recorded = false;
  bool left_out = false;  // too deep
  bool has_argument = false;
};
// Calls deeper than this array are recorded without the duration filter. They are too deep for
// every limit of depth.
constexpr uint32_t kMostOpenCalls = kMostDepthLimit;

struct StackRange {
  uint64_t begin;
  uint64_t bytes;

  [[nodiscard]] bool holds(uint64_t at) const { return at - begin < bytes; }
};

struct OpenCalls {
  uint32_t depth;
  uint32_t beyond;   // open calls that the full array had no room for, as far as their exits tell
  uint32_t pending;  // calls from here on are not recorded yet, except those left out
  uint32_t epoch;    // State::epoch when they were entered
  int pid;           // of the process that records their entries
  bool busy;
  StackRange signal_stack;  // that the thread last ran on; empty if it left it
  OpenCall calls[kMostOpenCalls];
};

namespace {

using xray::FunctionAction;

uint64_t now() { return state.clock == ClockKind::monotonic ? monotonic_now() : read_counter(); }

__attribute__((noinline, cold)) void renew(OpenCalls& open) {
  if (open.pid != state.pid && open.epoch + 1 == state.epoch) {
    // A forked child: entries of calls that began in the parent are for the parent's recording.
    for (; open.pending < open.depth; ++open.pending) open.calls[open.pending].recorded = true;
  } else {
    // Recording was stopped meanwhile: who knows which of these calls have returned.
    open.depth = open.beyond = open.pending = 0;
    thread_state.waited_ns = waited_ns();
  }
  open.epoch = state.epoch;
  open.pid = state.pid;
}

OpenCalls* open_calls() {
  // In a forked child, `state` is the parent's until its recording begins.
  if (__builtin_expect(state.fork_mark->alive == 0 && thread_state.busy == 0, 0)) begin_if_forked();
  if (thread_state.open_calls == nullptr) {
    thread_state.open_calls = static_cast<OpenCalls*>(sys::map_private(sizeof(OpenCalls)));
    const uint32_t busy_before = thread_state.busy;  // libc may allocate
    thread_state.busy = 1;
    watch_thread_end();
    thread_state.busy = busy_before;
    thread_state.waited_ns = waited_ns();
    if (thread_state.open_calls != nullptr) {
      thread_state.open_calls->epoch = state.epoch;
      thread_state.open_calls->pid = state.pid;
    }
  }
  OpenCalls* const open = thread_state.open_calls;
  if (__builtin_expect(open != nullptr && open->epoch != state.epoch && !open->busy, 0)) {
    renew(*open);
  }
  return open;
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

// The time at which a call begins. Recording its callers' entries may take longer than the call;
// that is not its time.
uint64_t begin_call(OpenCalls& open) {
  const uint64_t time = now();
  const uint32_t pending = open.pending;
  record_pending(open, time);
  return open.pending == pending ? time : now();
}

// What is deeper than the innermost open call has ended.
void forget_deeper(OpenCalls& open) {
  open.beyond = 0;
  if (open.pending > open.depth) open.pending = open.depth;
}

void drop_innermost(OpenCalls& open) {
  const OpenCall& call = open.calls[--open.depth];
  if (!call.recorded && !call.left_out) leave_out(1);
  forget_deeper(open);
}

// The signal stack, if the thread runs on it; otherwise empty.
StackRange running_signal_stack() {
  stack_t now{};
  const long result = sys::call(SYS_sigaltstack, static_cast<void*>(nullptr), &now);
  if (sys::failed(result) || (now.ss_flags & SS_ONSTACK) == 0) return {0, 0};
  return {reinterpret_cast<uint64_t>(now.ss_sp), now.ss_size};
}

// An exception or longjmp ended calls whose stack space is in use again: below `lowest_live`, where
// the thread runs. The stack of a signal handler may be above the calls that the signal
// interrupted; these are still open. A handler that longjmp left is not.
__attribute__((noinline, cold)) void drop_ended_now(OpenCalls& open, uint64_t lowest_live) {
  bool knows_stack = false;
  while (open.depth != 0) {
    const uint64_t at = open.calls[open.depth - 1].stack;
    const bool in_handler = open.signal_stack.holds(lowest_live);
    const bool of_handler = open.signal_stack.holds(at);
    const bool left_handler = of_handler && !in_handler;
    if (at >= lowest_live && !left_handler) {
      if (!in_handler) open.signal_stack = {0, 0};
      return;
    }
    if (!left_handler && !knows_stack) {
      open.signal_stack = running_signal_stack();
      knows_stack = true;
      continue;
    }
    if (in_handler && !of_handler) return;
    drop_innermost(open);
  }
}
void drop_ended(OpenCalls& open, uint64_t lowest_live) {
  if (open.depth == 0) return;
  const bool may_have_ended = open.calls[open.depth - 1].stack < lowest_live;
  if (__builtin_expect(may_have_ended || open.signal_stack.bytes != 0, 0))
    drop_ended_now(open, lowest_live);
}

// The same for gcc's hooks, which know a place in a call's frame, but not where the frame begins: a
// call that longjmp ended may be above the place of one that comes after it. Where the new call
// returns to is on the stack at the beginning of its frame, below all calls that it is inside of.
// Frames that are larger than the limit are taken to be inside.
void drop_jumped_over(OpenCalls& open, const OpenCall& entered) {
  constexpr uint64_t kMostBytes = 4096;
  uint64_t at = entered.stack;
  while (open.depth != 0) {
    const OpenCall& call = open.calls[open.depth - 1];
    // An inlined call has its caller's frame, and returns where that one does.
    if (call.stack <= entered.stack || call.call_site == entered.call_site) return;
    for (; at < call.stack; at += sizeof(uint64_t)) {
      if (at - entered.stack == kMostBytes) return;
      uint64_t word;
      __builtin_memcpy(&word, reinterpret_cast<const void*>(at), sizeof(word));
      if (word == entered.call_site) return;
    }
    drop_innermost(open);
  }
}

// Whether a call inside of all open ones is too deep.
bool is_too_deep(const OpenCalls& open) {
  return state.options.depth != 0 && open.depth >= state.options.depth;
}

void add(OpenCalls& open, const OpenCall& entered, uint64_t time) {
  const bool too_deep = is_too_deep(open);
  if (too_deep) leave_out(1);
  if (open.depth == kMostOpenCalls) {
    ++open.beyond;
    if (!too_deep) record_read(head_of(entered.function, FunctionAction::enter), time);
    return;
  }
  OpenCall& call = open.calls[open.depth++];
  call = entered;
  call.entered = time;
  call.left_out = too_deep;
  if (!too_deep && state.min_ticks == 0) record_entry(call);
}

void enter(OpenCalls& open, const OpenCall& entered) {
  const uint64_t time = begin_call(open);
  drop_ended(open, entered.stack + 1);
  add(open, entered, time);
}

// Whether the function at `address` is inlined, into the function of the outermost open call in
// this frame: it has its own code before the call of the hook, and no other function's.
bool is_inlined(const OpenCalls& open, const OpenCall& entered, uint64_t address) {
  constexpr uint64_t kLongestBeginning = 256;  // of a function, up to the return of the hook
  uint32_t at = open.depth;
  while (at != 0 && open.calls[at - 1].stack == entered.stack) --at;
  if (at == open.depth) return false;
  const uint64_t outermost = open.calls[at].hook_return;
  return entered.hook_return - address >= kLongestBeginning ||
         (address < outermost && outermost < entered.hook_return);
}

void enter_called(OpenCalls& open, const OpenCall& entered, uint64_t address) {
  const uint64_t time = begin_call(open);
  drop_ended(open, entered.stack);
  if (!is_inlined(open, entered, address)) drop_ended(open, entered.stack + 1);
  drop_jumped_over(open, entered);
  add(open, entered, time);
}

void leave(OpenCalls& open, uint32_t function, uint64_t stack, FunctionAction action) {
  const uint64_t time = now();
  drop_ended(open, stack);
  OpenCall* const top = open.depth == 0 ? nullptr : &open.calls[open.depth - 1];
  const bool same = top != nullptr && top->stack == stack && top->function == function;
  if (!same) {
    // The entry of a call that the array had no room for was left out, too.
    if (open.depth == kMostOpenCalls && is_too_deep(open)) return leave_out(1);
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
  forget_deeper(open);
}

const OpenCall* innermost_call(const OpenCalls& open, uint32_t function) {
  for (uint32_t i = open.depth; i-- > 0;) {
    if (open.calls[i].function == function) return &open.calls[i];
  }
  return nullptr;
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
  leave(*open, function, stack, action);
}

}  // namespace

TELLTALE_HOOK __attribute__((force_align_arg_pointer)) void leave_out_without_buffer(
    uint64_t events) {
  begin_if_forked();  // otherwise the side record is the parent's, and not mapped here
  __atomic_fetch_add(&state.side->left_out, events, __ATOMIC_RELAXED);
}

TELLTALE_HOOK __attribute__((noinline, force_align_arg_pointer)) void filtered_enter(
    uint32_t function, uint64_t stack) {
  OpenCalls* const open = open_calls();
  if (open == nullptr || open->busy) {
    record_slowly(head_of(function, FunctionAction::enter));
    return;
  }
  const Bookkeeping bookkeeping(*open);
  enter(*open, {.stack = stack, .function = function});
}
TELLTALE_HOOK __attribute__((noinline, force_align_arg_pointer)) void filtered_argument(
    uint32_t function, uint64_t stack, uint64_t argument) {
  OpenCalls* const open = open_calls();
  if (open == nullptr || open->busy) {
    record_argument_slowly(head_of(function, FunctionAction::enter_args), argument);
    return;
  }
  const Bookkeeping bookkeeping(*open);
  enter(*open, {.stack = stack, .argument = argument, .function = function, .has_argument = true});
}
TELLTALE_HOOK __attribute__((noinline, force_align_arg_pointer)) void filtered_exit(
    uint32_t function, uint64_t stack) {
  leave_filtered(function, stack, FunctionAction::exit);
}
TELLTALE_HOOK __attribute__((noinline, force_align_arg_pointer)) void filtered_tail_exit(
    uint32_t function, uint64_t stack) {
  leave_filtered(function, stack, FunctionAction::tail_exit);
}

void filtered_called_enter(uint32_t function, uint64_t place, uint64_t address,
                           uint64_t call_site) {
  OpenCalls* const open = open_calls();
  if (open == nullptr || open->busy) {
    record_slowly(head_of(function, FunctionAction::enter));
    return;
  }
  uint64_t hook_return;
  __builtin_memcpy(&hook_return, reinterpret_cast<const void*>(place - sizeof(hook_return)),
                   sizeof(hook_return));
  const Bookkeeping bookkeeping(*open);
  enter_called(
      *open,
      {.stack = place, .hook_return = hook_return, .call_site = call_site, .function = function},
      address);
}
// The compiler may have removed the function's frame already: the innermost open call ends.
void filtered_called_exit(uint32_t function, uint64_t place) {
  OpenCalls* const open = thread_state.open_calls;
  if (open != nullptr && !open->busy && open->epoch == state.epoch) {
    if (open->beyond != 0) {
      --open->beyond;
      place = open->calls[kMostOpenCalls - 1].stack - 1;
    } else {
      const OpenCall* const call = innermost_call(*open, function);
      if (call != nullptr) place = call->stack;
    }
  }
  leave_filtered(function, place, FunctionAction::exit);
}

void decide_open_calls(bool ends) {
  OpenCalls* const open = thread_state.open_calls;
  if (open == nullptr || open->busy || open->epoch != state.epoch) return;
  const Bookkeeping bookkeeping(*open);
  record_pending(*open, now());
  while (ends && open->depth != 0) drop_innermost(*open);
}

void forget_open_calls() {
  if (thread_state.open_calls == nullptr) return;
  sys::call(SYS_munmap, thread_state.open_calls, sizeof(OpenCalls));
  thread_state.open_calls = nullptr;
}

}  // namespace telltale::recorder
