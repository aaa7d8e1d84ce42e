#pragma once

// What sleds, and gcc's instrumentation, end in. All registers are kept but flags.

#include "record.h"

namespace telltale::recorder {

// `function`: its id, 1 to 2^28-1. `stack`: where the call's return address lies, the same for
// entry and exit of one call.
using FunctionHook = TELLTALE_HOOK void (*)(uint32_t function, uint64_t stack);
using ArgumentHook = TELLTALE_HOOK void (*)(uint32_t function, uint64_t stack, uint64_t argument);

extern "C" {
extern FunctionHook telltale_xray_enter_hook;
extern FunctionHook telltale_xray_exit_hook;
extern FunctionHook telltale_xray_tail_hook;
extern ArgumentHook telltale_xray_argument_hook;
TELLTALE_HOOK void telltale_xray_custom_hook(const void* payload, size_t bytes);
TELLTALE_HOOK void telltale_xray_typed_hook(size_t type, const void* payload, size_t bytes);
// Where patched sleds jump or call (stubs.cc): r10d holds the function's id.
void telltale_xray_enter_stub();
void telltale_xray_exit_stub();
void telltale_xray_tail_stub();
void telltale_xray_argument_stub();
void telltale_xray_custom_stub();
void telltale_xray_typed_stub();
}

// Sets the hooks by what state says: clock and filters; to nothing while there is no recording.
// Async-signal-safe.
void choose_hooks();

}  // namespace telltale::recorder
