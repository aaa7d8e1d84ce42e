// For runtimes that make system calls by libc.
#pragma once

#include <errno.h>
#include <unistd.h>

#include "above_standard.h"
#include "high.h"

namespace telltale::descriptors {

// As syscall(), but returns -errno on failure.
template <typename... Arguments>
long call_by_libc(long number, Arguments... arguments) {
  const long answer = ::syscall(number, arguments...);
  return answer < 0 ? -static_cast<long>(errno) : answer;
}

// As open(2), with O_CLOEXEC, but never a standard descriptor, and not a cancellation point. On
// success errno is unchanged.
inline int open_file(const char* path, int flags, unsigned mode = 0) {
  const int kept = errno;
  const auto call = [](auto... arguments) { return call_by_libc(arguments...); };
  const long file = open_above_standard(call, path, flags, mode);
  errno = file < 0 ? static_cast<int>(-file) : kept;
  return file < 0 ? -1 : static_cast<int>(file);
}

// The same for a file that stays open while the program runs: its descriptor is high.
inline int open_kept_file(const char* path, int flags, unsigned mode = 0) {
  const int file = open_file(path, flags, mode);
  if (file < 0) return file;
  const int kept = errno;
  const int high = move_high([](auto... arguments) { return call_by_libc(arguments...); }, file);
  errno = kept;
  return high;
}

}  // namespace telltale::descriptors
