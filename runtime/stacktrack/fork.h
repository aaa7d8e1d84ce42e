#pragma once

namespace telltale::st {

// Once: prepares for a later fork of this process.
void watch_forks();
// When a sink is opened: in a process that was created without fork(), forgets its parent's state.
void notice_copy();
// A forked child has to open sinks of its own before its first event.
bool child_is_waiting();
// Opens them, or waits until another thread has. False: nothing can be recorded.
bool open_in_child();

}  // namespace telltale::st
