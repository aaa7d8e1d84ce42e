#pragma once

// Programs built with -finstrument-functions, whose compiler puts a call in front of and behind
// every function: ids are given at the first call of a function, and recorded with its address.

#include <stdint.h>

#include "elf_file.h"

namespace telltale::recorder {

// Sets how calls are recorded from now on, as choose_hooks() does for sleds. Async-signal-safe.
void choose_call_hooks();
// Functions of an object whose names the list `functions` does not choose are not recorded. `bias`
// is its run-time address minus that of the file. False: the object was not built for the hooks,
// and nothing was done.
bool leave_out_unchosen(const ElfFile& file, uint64_t bias, const char* functions);
// The code at [begin, end) is gone: what is called there next are other functions.
void forget_called_functions(uint64_t begin, uint64_t end);

}  // namespace telltale::recorder
