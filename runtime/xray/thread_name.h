#pragma once

namespace telltale::recorder {

// Appends the calling thread's name to the side record if it has changed since the last call; at
// the thread's first buffer, each further one, after each wait, at its end and when it crashes,
// because threads are often named after they have started. Async-signal-safe; call with all signals
// blocked.
void note_thread_name();

}  // namespace telltale::recorder
