#pragma once

// The objects of the process: finds them, writes them to the side record, patches them.

#include <stdint.h>

namespace telltale::recorder {

// Checks all loaded objects: new ones are recorded and, if they have sleds, patched according to
// the options; unloaded ones are recorded as such. Call with `busy` set. Not async-signal-safe.
void scan_objects();

// Between set_scans_at_start(true) and (false), scan_objects finds objects that are never unloaded.
void set_scans_at_start(bool scans);

// For a forked child, whose parent's threads may have been in any of these functions.
void reset_objects_lock();

// Whether any loaded object has sleds.
bool has_sleds();

// Patches or unpatches all functions that the option `functions` selects, or those that match
// `glob`; returns their number. Not async-signal-safe.
int patch_functions(const char* glob, bool on);
int patch_chosen(bool on);

// Deactivates the entry sleds of dropped functions in objects that are never unloaded, if no other
// thread is at work here. Async-signal-safe; call with all signals blocked.
void unpatch_dropped();

// Replaces the option `functions` by `list`, which takes effect when functions are patched next
// and, for functions that are known by address, at their next call. Not async-signal-safe; other
// threads may run.
void choose_functions(const char* list);

// Whether the option `functions` selects the function at a run-time address. Inlined functions of
// an object may have their address in another one, which was not built to be recorded. Call with
// all signals blocked.
bool is_function_chosen(uint64_t address);

// Makes the dynamic linker call on_loader_event whenever its list of objects has changed, before
// any code of new objects runs. False: not possible here.
bool watch_loader();
void on_loader_event();

}  // namespace telltale::recorder
