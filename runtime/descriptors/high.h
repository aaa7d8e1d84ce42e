// Descriptors of files that stay open while the program runs.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

namespace telltale::descriptors {

constexpr int kLeastHigh = 500;

// Moves a file to a high descriptor, if the process may have one, and returns where it is. Programs
// may rely on low numbers for their own files: shells let scripts use 3 to 9. `call` is as for
// open_above_standard(). The file is closed on exec. Async-signal-safe if `call` is.
template <typename Call>
int move_high(const Call& call, int descriptor) {
  for (int least = kLeastHigh; least >= 16 && descriptor < least; least /= 2) {
    const long moved = call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, least);
    if (moved < 0) continue;
    call(SYS_close, descriptor);
    return static_cast<int>(moved);
  }
  return descriptor;
}

}  // namespace telltale::descriptors
