#pragma once

namespace telltale::recorder {

// Installs the handlers that the options need: the snapshot signal; in snapshot mode a snapshot at
// fatal signals; otherwise only SIGBUS, for a trace that is truncated under its mapping. The kernel
// delivers the signal next to the handler that was there before. Not async-signal-safe.
void install_signals();

// Snapshot mode: a signal stack for a thread that has none. Async-signal-safe.
void give_signal_stack();
void take_signal_stack();

}  // namespace telltale::recorder
