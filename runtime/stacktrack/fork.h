#pragma once

namespace telltale::st {

// Once: prepares for the day when this process is copied.
void watch_forks();
// When a sink is opened: in a process that was copied without fork(), what its parent had is
// forgotten.
void notice_copy();
// A forked child has sinks of its own to open before its first event.
bool child_is_waiting();
// Opens them, or waits until another thread has. False: nothing can be recorded.
bool open_in_child();

}  // namespace telltale::st
