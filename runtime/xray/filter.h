#pragma once

// Depth and duration filters. A thread's open calls are kept with the stack
// address of their return address. Calls that an exception or longjmp ended are therefore detected,
// and an entry and an exit belong to one call only if function and stack address are the same.

#include "hooks.h"

namespace telltale::recorder {

TELLTALE_HOOK void filtered_enter(uint32_t function, uint64_t stack);
TELLTALE_HOOK void filtered_exit(uint32_t function, uint64_t stack);
TELLTALE_HOOK void filtered_tail_exit(uint32_t function, uint64_t stack);
TELLTALE_HOOK void filtered_argument(uint32_t function, uint64_t stack, uint64_t argument);

// The same for gcc's hooks: the entry of the function at `address`, and an exit. `place`: above the
// return address of the program's call of the hook, in the function's frame. `call_site`: where the
// function returns to, as the stack has it now.
void filtered_called_enter(uint32_t function, uint64_t place, uint64_t address, uint64_t call_site);
void filtered_called_exit(uint32_t function, uint64_t place);

// Counts events that are not recorded.
TELLTALE_HOOK __attribute__((noinline, cold)) void leave_out_without_buffer(uint64_t events);
TELLTALE_HOT void leave_out(uint64_t events) {
  Control& control = *thread_state.current;
  if (__builtin_expect(
          control.kind == ControlKind::recording || control.kind == ControlKind::ignored, 1)) {
    add_to(control.count, events);
  } else {
    leave_out_without_buffer(events);
  }
}

// Decides on open calls that `min` has not decided on yet: what has lasted long enough by now is
// recorded. `ends`: the thread ends, and the others are left out.
void decide_open_calls(bool ends);
// Frees the thread's open calls. Call at the thread's end.
void forget_open_calls();

}  // namespace telltale::recorder
