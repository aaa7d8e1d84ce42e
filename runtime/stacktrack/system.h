#pragma once

// The system calls that the recorder needs, and no others. Each returns its result or a negative
// errno value, leaves errno alone, and is neither a cancellation point nor anything else that is
// forbidden in a signal handler.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace telltale::st {

constexpr size_t kPathBytes = 4096;

class KeepErrno {
 public:
  KeepErrno() : errno_(errno) {}
  ~KeepErrno() { errno = errno_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  const int errno_;
};

// Always close-on-exec.
int open_file(const char* path, int flags, unsigned mode = 0);
void close_file(int file);
// All of it, unless there is an error.
int write_all(int file, const void* bytes, size_t count);
int sync_file(int file);
// Bytes of the link's target, cut at `bytes`; not terminated.
int read_link(const char* path, char* target, size_t bytes);
int remove_file(const char* path);
int rename_file(const char* from, const char* to);
int identify_file(int file, uint64_t* device, uint64_t* inode, uint64_t* bytes);
int size_of_file(int file, uint64_t* bytes);
// Gives [offset, offset + bytes) blocks of its own, so that storing there cannot fail for want of
// space; its pages are in memory then. -EFBIG instead of SIGXFSZ.
int allocate_file(int file, uint64_t offset, uint64_t bytes);

// Null on failure.
void* map_file(int file, uint64_t offset, size_t bytes);
void* map_memory(size_t bytes);
// Zeros of our own in the place of what is mapped there; whole pages.
bool replace_with_memory(void* base, size_t bytes);
void forbid_access(void* base, size_t bytes);
void unmap(void* base, size_t bytes);

uint32_t process_id();
uint32_t parent_process_id();
uint32_t thread_id();
bool thread_is_gone(uint32_t pid, uint32_t tid);
void yield_processor();
void sleep_ns(long ns);
// The signal comes again, to this thread, with all that came with it.
void send_again(int number, siginfo_t* info);
uint64_t monotonic_ns();
timespec wall_time();

}  // namespace telltale::st
