// Writes a small ELF core file of this process: registers of all threads, the innermost part of
// their stacks, and what debuggers need to find programs and libraries. Async-signal-safe.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

namespace telltale::paths {

constexpr size_t kPathBytes = 4096;

// Once, before write_core(); returns whether there was memory.
bool prepare_core_writer();

// Why no file of this name can be written, as things are now; null if it can. `path` is absolute
// and shorter than kPathBytes. Not async-signal-safe.
const char* why_not_writable(const char* path);

// Async-signal-safe. The calling thread was interrupted at `context` by the signal. Other threads
// are stopped meanwhile. The file appears under its name when it is complete, and replaces a
// regular file, and nothing else. Returns why it does not; null if it does.
const char* write_core(const char* path, int signal, const siginfo_t& info,
                       const ucontext_t& context);

}  // namespace telltale::paths
