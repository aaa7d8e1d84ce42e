#pragma once

namespace telltale::recorder {

// Installs what the options need: the snapshot signal; in snapshot mode a snapshot at fatal
// signals; else only SIGBUS, for a trace that is cut under its mapping. Handlers that were there
// get the signal next, from the kernel. Not async-signal-safe.
void install_signals();

// Snapshot mode: a stack for fatal signals, for a thread that has none. Async-signal-safe.
void give_signal_stack();
void take_signal_stack();

}  // namespace telltale::recorder
