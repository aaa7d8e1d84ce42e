// Opens files for the runtimes. A program that was started with standard output or error closed may
// still print: a file that got descriptor 1 or 2 would get what it prints.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

namespace telltale::descriptors {

constexpr int kStandardDescriptors = 3;

// `call` is syscall(), but returns -errno on failure, and so does this. The file is closed on exec.
// Async-signal-safe if `call` is. While the file is opened, descriptors that cannot be read or
// written take the closed places: for other threads, these places remain as good as closed.
template <typename Call>
long open_above_standard(const Call& call, const char* path, int flags, unsigned mode) {
  unsigned taken = 0;
  for (int place = 0; place < kStandardDescriptors; ++place) {
    if (call(SYS_fcntl, place, F_GETFD) >= 0) continue;
    const long held = call(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
    if (held == place) {
      taken |= 1U << place;
    } else if (held >= 0) {
      call(SYS_close, held);
    }
  }
  long file = call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
  // Another thread has just closed one.
  if (file >= 0 && file < kStandardDescriptors) {
    const long low = file;
    file = call(SYS_fcntl, low, F_DUPFD_CLOEXEC, kStandardDescriptors);
    call(SYS_close, low);
  }
  for (int place = 0; taken >> place != 0; ++place) {
    if ((taken >> place & 1) == 0) continue;
    // A file of the program's may have replaced ours.
    const long kind = call(SYS_fcntl, place, F_GETFL);
    if (kind >= 0 && (kind & O_PATH) != 0) call(SYS_close, place);
  }
  return file;
}

}  // namespace telltale::descriptors
