#pragma once

// Programs built with -finstrument-functions, whose compiler inserts a call at the entry and exit
// of every function: ids are assigned at a function's first call, and recorded with its address.

#include <stdint.h>

#include "elf_file.h"

namespace telltale::recorder {

// Sets how calls are recorded from now on, as choose_hooks() does for sleds. Async-signal-safe.
void choose_call_hooks();
// Excludes the object's functions that the list `functions` does not include. `bias` is its
// run-time address minus that of the file. False: the object was not built for the hooks; nothing
// was done.
bool leave_out_unchosen(const ElfFile& file, uint64_t bias, const char* functions);
// Decides anew which functions of the object at [begin, end) are excluded, for a list that has
// changed; returned as by leave_out_unchosen. Not from two threads at once.
bool choose_called_functions(const ElfFile& file, uint64_t bias, uint64_t begin, uint64_t end,
                             const char* functions);
// The code at [begin, end) was unloaded: functions called there later are different ones.
void forget_called_functions(uint64_t begin, uint64_t end);

}  // namespace telltale::recorder
