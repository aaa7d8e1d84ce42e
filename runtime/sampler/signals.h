// On a fatal signal, writes the report before the process ends.
#pragma once

namespace telltale::sampler {

// Installs the handlers, and a signal stack for the calling thread. Call when a unit registers;
// only the first call has an effect.
void watch_signals();
// Gives the calling thread an alternate signal stack, so that stack overflows are reported.
void install_signal_stack();
// Whether watch_signals() was called, in the copy of the runtime that leads (leader.h).
bool watches_signals();
// Does nothing; a reference to it links thread_start.cc.
void link_thread_hooks();
// Forgets which thread reports. For the child of a fork, in which that thread does not exist.
void forget_reporter();

}  // namespace telltale::sampler
