#pragma once

namespace telltale::recorder {

// Starts `run` in a thread that libc does not know, with the caller's signal mask. So libc still
// ends the process after the last of the program's threads, and kills this one. `run` shares the
// caller's thread pointer, which another thread may have freed: it uses no thread-local variable
// and calls nothing of libc. The thread ends when `run` returns. False: no memory, or no thread can
// be made.
bool start_bare_thread(void (*run)());

}  // namespace telltale::recorder
