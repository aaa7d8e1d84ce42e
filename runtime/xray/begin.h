#pragma once

namespace telltale::recorder {

// Opens the files of a requested recording: at its start if the program has sleds, otherwise at its
// first event, so that programs without instrumentation leave no files. In a forked child, opens
// files of its own before its first event, or none. Call with all signals blocked and `busy` set.
// Threads that arrive at the same time wait for the one that opens them. Async-signal-safe.
void begin_recording();

// In a forked child that has not begun: forgets the parent's recording, threads and locks, but not
// its settings. Call with all signals blocked and no other thread in the recorder.
void forget_parent();

// The same if signals are not blocked and `busy` may not be set. In a forked child it must precede
// anything that reads the files' memory, which is unmapped there, or takes a lock, which another
// thread of the parent may have held.
void begin_from_hook();
// begin_from_hook() if this is a forked child that has not begun.
void begin_if_forked();

// Arranges that the thread's end is noticed.
void watch_thread_end();

}  // namespace telltale::recorder
