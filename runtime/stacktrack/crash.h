#pragma once

// Signal handling of the recorder: a ring in memory is written when a signal kills the process, and
// a mapped file that somebody else has truncated is abandoned. Handlers that the host installs
// later run first, and ours when they restore the default action; the kernel delivers the same
// signal next to handlers that were there before.

#include "threads.h"

namespace telltale::st {

// Dumps the ring to `path` when a fatal signal arrives. Replaces the path of an earlier call.
void dump_on_crash(int sink, const char* path);
// From now on a store to a truncated file does not end the process by SIGBUS.
void watch_cut_files();

// A ring is to be dumped: threads need a signal stack.
bool crash_is_watched();
// Gives the calling thread a signal stack, so that a stack overflow can be dumped, unless it has
// one.
void give_signal_stack(Node& node);

}  // namespace telltale::st
