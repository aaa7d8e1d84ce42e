// For runtimes that make system calls by libc.
#pragma once

#include <errno.h>
#include <unistd.h>

#include "above_standard.h"

namespace telltale::descriptors {

// As open(2), with O_CLOEXEC, but never a standard descriptor, and not a cancellation point. On
// success errno is unchanged.
inline int open_file(const char* path, int flags, unsigned mode = 0) {
  const int kept = errno;
  const auto call = [](long number, auto... arguments) {
    const long answer = ::syscall(number, arguments...);
    return answer < 0 ? -static_cast<long>(errno) : answer;
  };
  const long file = open_above_standard(call, path, flags, mode);
  errno = file < 0 ? static_cast<int>(-file) : kept;
  return file < 0 ? -1 : static_cast<int>(file);
}

}  // namespace telltale::descriptors
