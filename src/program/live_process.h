#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "base/error.h"
#include "program/core_file.h"

namespace telltale {

// The stacks of a running process, as CoreFile::from_parts takes them.
struct ProcessSnapshot {
  CoreParts parts;
  std::vector<std::byte> memory;       // that parts.memory refers to
  std::set<int64_t> left_out;          // threads that did not stop: without registers
  std::chrono::nanoseconds stopped{};  // between the first thread's stop and the last one's start
};

// Stops all threads of `pid` (ptrace), copies their registers and stacks, and lets them go on. The
// process does not notice, except that system calls that a stop interrupts (epoll_wait and a few
// others, signal(7)) may return EINTR. A thread that does not stop within some tens of
// milliseconds, as in vfork() until the child ends, is left out. Of a stack, at most 16 MiB from
// its top are copied. Errors: io, for a process that does not exist, has ended, is traced already,
// or may not be read; usage for 32-bit processes and for other machines than that of telltale.
Result<ProcessSnapshot> take_process_snapshot(pid_t pid);

}  // namespace telltale
