#pragma once

namespace telltale::recorder {

// Opens the files of a recording that has been asked for: at its start if the program has sleds,
// else at its first event, so that programs without instrumentation leave none; and in a forked
// child, before its first event, files of its own, or none. Call with all signals blocked and
// `busy` set. Threads that come at once wait for the one that does it. Async-signal-safe.
void begin_recording();

// The same where signals are not blocked and `busy` may not be set. In a forked child it comes
// before anything that reads the files' memory, which is not there, or takes a lock, which another
// thread of the parent may have held.
void begin_from_hook();
// begin_from_hook() if this is a forked child that has not begun.
void begin_if_forked();

}  // namespace telltale::recorder
