#pragma once

// What signals mean to the recorder: a ring in memory is written when one kills the process, and a
// file that somebody else has cut while it is mapped is let go. The host's own handlers go first if
// they came later; if they were there before, they get the same signal next, from the kernel.

#include "threads.h"

namespace telltale::st {

// Dumps the ring to `path` when a fatal signal comes. Replaces what an earlier call asked for.
void dump_on_crash(int sink, const char* path);
// A store into a file that has been cut is no SIGBUS from now on.
void watch_cut_files();

// A ring is to be dumped: threads should have a stack for handlers.
bool crash_is_watched();
// So that a stack that overflowed can be told about. Threads that have one keep theirs.
void give_signal_stack(Node& node);

}  // namespace telltale::st
