#pragma once

namespace telltale::recorder {

// With the option `control`, starts the thread that answers `telltale control` on a socket of this
// process, unless it runs. Not in a program that has more privileges than its caller. Not
// async-signal-safe.
void start_control();

// libc ends the process after its last thread, and that must be one of the program's: the control
// thread has none of its files. So the last of the program's threads that begins to end ends the
// control thread, and waits for it. The first function is to be called when a thread begins to
// record, the second when such a thread or the process's first ends, with signals blocked.
void note_thread_for_control();
void end_control_with_last_thread();

}  // namespace telltale::recorder
