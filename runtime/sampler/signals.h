// A fatal signal writes the report before it ends the process.
#pragma once

namespace telltale::sampler {

void watch_signals();
// So that a stack that overflowed can be told about: for the calling thread.
void install_signal_stack();
bool watches_signals();
// Does nothing: whoever needs it links what sees threads start (thread_start.cc).
void link_thread_hooks();
// In the child of a fork, where the thread that reports may be none.
void forget_reporter();

}  // namespace telltale::sampler
