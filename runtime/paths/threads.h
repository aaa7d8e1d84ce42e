// The threads of this process and their registers. Async-signal-safe.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/procfs.h>
#include <ucontext.h>

namespace telltale::paths {

struct Thread {
  int tid = 0;
  int has_registers = 0;    // the thread sets it last
  elf_gregset_t registers;  // as in a core file
  uint64_t thread_pointer = 0;
  // If it runs a handler on its signal stack: the stack pointer of what the handler interrupted,
  // on another stack. 0: it does not.
  uint64_t interrupted_stack = 0;
};

struct Threads {
  static constexpr size_t kMost = 4096;
  Thread all[kMost];
  size_t count = 0;
  size_t left_out = 0;  // beyond these
};

// Registers of the interrupted thread, which is the calling one.
void take_registers(const ucontext_t& context, Thread& thread);

// Adds the other threads to `threads`, stopped by a signal until release_threads(), and their
// registers. Threads that do not answer within a moment, since they block signals, have none.
void stop_threads(Threads& threads);
void release_threads();

}  // namespace telltale::paths
