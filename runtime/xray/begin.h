#pragma once

namespace telltale::recorder {

// Opens the files of a recording that has been asked for: at its start if the program has sleds,
// else at its first event, so that programs without instrumentation leave none; and in a forked
// child, before its first event, files of its own, or none. Call with all signals blocked and
// `busy` set. Threads that come at once wait for the one that does it. Async-signal-safe.
void begin_recording();

}  // namespace telltale::recorder
