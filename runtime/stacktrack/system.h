#pragma once

// The system calls that the recorder needs. Each returns its result or a negative errno value,
// preserves errno, and is neither a cancellation point nor otherwise forbidden in a signal handler.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

extern "C" {
// ThreadSanitizer's, in programs that are built with it: the header's code is, this library need
// not be. Null in others.
__attribute__((weak)) void __tsan_acquire(void* address);  // NOLINT: a symbol
__attribute__((weak)) void __tsan_release(void* address);  // NOLINT: a symbol
}

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

// Always close-on-exec, and never a standard descriptor.
int open_file(const char* path, int flags, unsigned mode = 0);
void close_file(int file);
// Writes all of it, unless there is an error.
int write_all(int file, const void* bytes, size_t count);
int sync_file(int file);
// The link's target, truncated at `bytes`; returns its length. Not terminated.
int read_link(const char* path, char* target, size_t bytes);
int remove_file(const char* path);
int rename_file(const char* from, const char* to);
int identify_file(int file, uint64_t* device, uint64_t* inode, uint64_t* bytes);
int size_of_file(int file, uint64_t* bytes);
// Allocates blocks for [offset, offset + bytes), so that stores there cannot fail for lack of
// space; afterwards its pages are in memory. -EFBIG instead of SIGXFSZ.
int allocate_file(int file, uint64_t offset, uint64_t bytes);

// For ThreadSanitizer, which sees mmap() and memcpy(), but not how this library hands memory on:
// what a thread has done before one call is done before what another thread does after the other.
void hand_memory_on();
void take_memory();

// Null on failure.
void* map_file(int file, uint64_t offset, size_t bytes);
void* map_memory(size_t bytes);
// Replaces the mapping there by zeroed anonymous memory; whole pages.
bool replace_with_memory(void* base, size_t bytes);
// Adds one to a little-endian number that may not be mapped any more, or be past the end of its
// file. The kernel does it, as the second half of a futex operation that wakes nobody: it fails
// where a store would raise a signal.
void count_if_mapped(uint64_t* count);
void forbid_access(void* base, size_t bytes);
void unmap(void* base, size_t bytes);

uint32_t process_id();
uint32_t parent_process_id();
uint32_t thread_id();
constexpr size_t kThreadNameBytes = 16;  // the kernel's limit, with the zero
void thread_name(char (&name)[kThreadNameBytes]);
bool thread_is_gone(uint32_t pid, uint32_t tid);
void yield_processor();
void sleep_ns(long ns);
// Sends the signal again, to this thread, with its original siginfo.
void send_again(int number, siginfo_t* info);
uint64_t monotonic_ns();
timespec wall_time();

}  // namespace telltale::st
