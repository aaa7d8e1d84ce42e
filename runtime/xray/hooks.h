#pragma once

// The targets of sleds and of gcc's instrumentation. All registers but flags are preserved.

#include "record.h"

namespace telltale::recorder {

// `function`: its id, 1 to 2^28-1. `stack`: the stack address of the call's return address, the
// same for entry and exit of one call.
using FunctionHook = TELLTALE_HOOK void (*)(uint32_t function, uint64_t stack);
using ArgumentHook = TELLTALE_HOOK void (*)(uint32_t function, uint64_t stack, uint64_t argument);

extern "C" {
extern FunctionHook telltale_xray_enter_hook;
extern FunctionHook telltale_xray_exit_hook;
extern FunctionHook telltale_xray_tail_hook;
extern ArgumentHook telltale_xray_argument_hook;
TELLTALE_HOOK void telltale_xray_custom_hook(const void* payload, size_t bytes);
TELLTALE_HOOK void telltale_xray_typed_hook(size_t type, const void* payload, size_t bytes);
// Targets of patched sleds (stubs.cc): r10d contains the function's id.
void telltale_xray_enter_stub();
void telltale_xray_exit_stub();
void telltale_xray_tail_stub();
void telltale_xray_argument_stub();
void telltale_xray_custom_stub();
void telltale_xray_typed_stub();
}

// Selects the hooks by clock and filters in `state`; none while there is no recording.
// Async-signal-safe.
void choose_hooks();

// What the hooks do with calls that the option `auto` does not leave out.
TELLTALE_HOOK void record_kept_entry(uint32_t function, uint64_t place);
TELLTALE_HOOK void record_kept_exit(uint32_t function, uint64_t place);

}  // namespace telltale::recorder
