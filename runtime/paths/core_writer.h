// Writes a small ELF core file of this process: registers of all threads, the innermost part of
// their stacks, and what debuggers need to find programs and libraries. Async-signal-safe.
#pragma once

#include <signal.h>
#include <ucontext.h>

namespace telltale::paths {

// Once, before write_core(); returns whether there was memory.
bool prepare_core_writer();

// Async-signal-safe. The calling thread was interrupted at `context` by the signal. Other threads
// are stopped meanwhile. The file appears under its name when it is complete; returns whether it
// does.
bool write_core(const char* path, int signal, const siginfo_t& info, const ucontext_t& context);

}  // namespace telltale::paths
