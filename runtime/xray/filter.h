#pragma once

// Depth and duration filters, and dropped functions. A thread's open calls are kept with the stack
// address of their return address. Calls that an exception or longjmp ended are therefore detected,
// and an entry and an exit belong to one call only if function and stack address are the same.

#include "hooks.h"

namespace telltale::recorder {

TELLTALE_HOOK void filtered_enter(uint32_t function, uint64_t stack);
TELLTALE_HOOK void filtered_exit(uint32_t function, uint64_t stack);
TELLTALE_HOOK void filtered_tail_exit(uint32_t function, uint64_t stack);
TELLTALE_HOOK void filtered_argument(uint32_t function, uint64_t stack, uint64_t argument);

// The same, but calls of dropped functions (frequent_functions.h) are left out.
TELLTALE_HOOK void dropping_enter(uint32_t function, uint64_t stack);
TELLTALE_HOOK void dropping_exit(uint32_t function, uint64_t stack);
TELLTALE_HOOK void dropping_tail_exit(uint32_t function, uint64_t stack);
TELLTALE_HOOK void dropping_argument(uint32_t function, uint64_t stack, uint64_t argument);

// Whether an event of the function could be left out at once, because the function was dropped.
// REQUIRES: drops_functions().
bool leaves_out_dropped(uint32_t function);

// Where the innermost open call of `function` was entered, for exits that do not know it; `place`
// if there is none. Call once for each exit: calls of dropped functions inside it are counted.
uint64_t place_of_open_call(uint32_t function, uint64_t place);

// At the thread's end.
void forget_open_calls();

}  // namespace telltale::recorder
