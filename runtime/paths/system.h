// System calls for the crash handler: async-signal-safe, and no cancellation points, unlike libc's.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../descriptors/open_file.h"

namespace telltale::paths {

// A file descriptor; -1 if it could not be opened.
class File {
 public:
  File(const char* path, int flags, unsigned mode = 0)
      : file_(descriptors::open_file(path, flags, mode)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_ >= 0) ::syscall(SYS_close, file_);
  }
  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  // Bytes read, 0 at the end, or -1.
  long read(void* to, size_t bytes) const { return retry(SYS_read, to, bytes); }
  long list(void* to, size_t bytes) const { return retry(SYS_getdents64, to, bytes); }
  // Whether all bytes were read.
  bool read_at(uint64_t offset, void* to, size_t bytes) const {
    return ::syscall(SYS_pread64, file_, to, bytes, offset) == static_cast<long>(bytes);
  }
  // Whether all bytes were written. Memory that does not exist is an error, not a fault.
  bool write(const void* from, size_t bytes) const {
    const auto* at = static_cast<const char*>(from);
    while (bytes > 0) {
      const long written = retry(SYS_write, const_cast<char*>(at), bytes);
      if (written <= 0) return false;
      at += written;
      bytes -= static_cast<size_t>(written);
    }
    return true;
  }
  // The next bytes become zeros that need no space on disk.
  bool skip(size_t bytes) const { return ::syscall(SYS_lseek, file_, bytes, SEEK_CUR) >= 0; }
  // Ends the file at the current offset.
  bool end_here() const {
    const long at = ::syscall(SYS_lseek, file_, 0, SEEK_CUR);
    return at >= 0 && ::syscall(SYS_ftruncate, file_, at) == 0;
  }

 private:
  [[nodiscard]] long retry(long call, void* memory, size_t bytes) const {
    long done = 0;
    do {
      done = ::syscall(call, file_, memory, bytes);
    } while (done < 0 && errno == EINTR);
    return done;
  }
  int file_;
};

// A file of /proc about this process, by its name in the folders of a process and of a thread: the
// thread's if the other has nothing, because the first thread has ended. qemu-user shows the
// program instead of itself only in the process's.
inline const char* own_file(const char* of_process, const char* of_thread) {
  const File file(of_process, O_RDONLY);
  char first = 0;
  return file.read(&first, 1) == 1 ? of_process : of_thread;
}

// This process's memory. Memory that does not exist is an error, not a fault.
class Memory {
 public:
  // Not /proc/self, which is the first thread's: without memory once that has ended.
  Memory() : file_("/proc/thread-self/mem", O_RDONLY) {}
  // Whether all bytes were read.
  bool read_at(uint64_t address, void* to, size_t bytes) const {
    if (file_.is_open()) return file_.read_at(address, to, bytes);
    // A process with other rights than its user's, as after setuid(), may not open the file.
    const iovec local = {to, bytes};
    const iovec remote = {reinterpret_cast<void*>(address), bytes};
    return ::syscall(SYS_process_vm_readv, ::getpid(), &local, 1, &remote, 1, 0) ==
           static_cast<long>(bytes);
  }

 private:
  File file_;
};

inline int thread_id() { return static_cast<int>(::syscall(SYS_gettid)); }

// Waits until done(), at most for `most_ms` milliseconds.
template <typename Done>
void wait_until(int most_ms, Done done) {
  for (int i = 0; i < most_ms && !done(); ++i) {
    const timespec pause = {0, 1'000'000};
    ::syscall(SYS_nanosleep, &pause, nullptr);
  }
}

}  // namespace telltale::paths
