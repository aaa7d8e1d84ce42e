// Signal stacks: a stack that overflowed has no room for a handler.
#pragma once

namespace telltale::paths {

// Once; before it, no stacks are given.
void prepare_signal_stacks();
// Gives the calling thread a signal stack until it ends, unless it has one.
void give_signal_stack();
// Unblocks the signals of faults in the calling thread. If one is blocked, the kernel ends the
// process without calling its handler.
void unblock_faults();
// Whether threads are to be given one.
bool gives_signal_stacks();

}  // namespace telltale::paths
