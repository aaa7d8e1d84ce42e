// On a fatal signal, writes the report before the process ends.
#pragma once

namespace telltale::sampler {

void watch_signals();
// Gives the calling thread an alternate signal stack, so that stack overflows are reported.
void install_signal_stack();
bool watches_signals();
// Does nothing; a reference to it links thread_start.cc.
void link_thread_hooks();
// In the child of a fork: the reporting thread does not exist there.
void forget_reporter();

}  // namespace telltale::sampler
