#pragma once

// The objects of the process: found, written to the side record, patched.

#include <stdint.h>

namespace telltale::recorder {

// Looks at all loaded objects: new ones are recorded and, if they have sleds, patched by the
// options; those that are gone are recorded as such. Call with `busy` set. Not async-signal-safe.
void scan_objects();

// For a forked child, whose parent's threads may have been in any of these functions.
void reset_objects_lock();

// Whether any loaded object has sleds.
bool has_sleds();

// Patches or unpatches all functions that the option `functions` chose, or those that match `glob`;
// returns their number. Not async-signal-safe.
int patch_functions(const char* glob, bool on);
int patch_chosen(bool on);

// Whether the option `functions` chooses the function at a run-time address. Inlined functions of
// an object may have their address in another one, which was not built to be recorded. Call with
// all signals blocked.
bool is_function_chosen(uint64_t address);

// Has the dynamic linker call on_loader_event whenever the list of objects has changed, before any
// code of new ones runs. False: it cannot be done here.
bool watch_loader();
void on_loader_event();

}  // namespace telltale::recorder
