#pragma once

// System calls without libc: async-signal-safe, errno and vector registers unchanged, never a
// cancellation point. Each returns the kernel's value: -errno on failure.

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstddef>

#include "../descriptors/above_standard.h"

namespace telltale::recorder::sys {

inline long call6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
template <typename T>
long word(T value) {
  return reinterpret_cast<long>(value);
}
inline long word(long value) { return value; }
inline long word(unsigned long value) { return static_cast<long>(value); }
inline long word(int value) { return value; }
inline long word(unsigned value) { return static_cast<long>(value); }

template <typename... Arguments>
long call(long number, Arguments... arguments) {
  static_assert(sizeof...(arguments) <= 6);
  const long words[6] = {word(arguments)...};
  return call6(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

constexpr long kMostError = -4095;
inline bool failed(long result) { return result < 0 && result >= kMostError; }

// Always close-on-exec, and never a standard descriptor.
inline long open(const char* path, int flags, unsigned mode = 0) {
  const auto kernel = [](long number, auto... arguments) { return call(number, arguments...); };
  return descriptors::open_above_standard(kernel, path, flags, mode);
}

inline void* map(void* at, size_t bytes, int protection, int flags, int file, long offset) {
  const long result = call(SYS_mmap, at, bytes, protection, flags, file, offset);
  return failed(result) ? nullptr : reinterpret_cast<void*>(result);
}
// Zeroed anonymous pages that use memory only when touched.
inline void* map_private(size_t bytes) {
  return map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0);
}
// Adds to, or replaces, a word that may not be mapped any more, or be past the end of its file. The
// kernel does it, as the second half of a futex operation that wakes nobody: it fails where a store
// would raise SIGSEGV or SIGBUS. `number` is below 2048.
inline void change_if_mapped(uint32_t* word, int operation, uint32_t number) {
  const uint32_t change = static_cast<uint32_t>(operation) << 28 | number << 12;
  call(SYS_futex, word, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, word, change);
}
inline void add_if_mapped(uint32_t* word, uint32_t number) {
  change_if_mapped(word, FUTEX_OP_ADD, number);
}
inline void set_if_mapped(uint32_t* word, uint32_t number) {
  change_if_mapped(word, FUTEX_OP_SET, number);
}
inline long clock_ns(int clock) {
  timespec now{};
  call(SYS_clock_gettime, clock, &now);
  return now.tv_sec * 1'000'000'000L + now.tv_nsec;
}
inline int pid() { return static_cast<int>(call(SYS_getpid)); }
inline int tid() { return static_cast<int>(call(SYS_gettid)); }

// Waits 0.9 s at most, checking every millisecond: the limit for a crashing thread that waits for
// others.
template <typename Done>
void wait_until(Done&& done) {
  constexpr int kMostWaits = 900;
  for (int i = 0; i < kMostWaits && !done(); ++i) {
    const timespec pause{0, 1'000'000};
    call(SYS_nanosleep, &pause, static_cast<void*>(nullptr));
  }
}

// Blocks all signals of the thread during its lifetime, except SIGBUS: code that stores to a
// truncated mapping needs its handler (signals.cc).
class BlockSignals {
 public:
  BlockSignals() {
    const uint64_t all = ~(uint64_t{1} << (SIGBUS - 1));
    call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof(all));
  }
  ~BlockSignals() {
    call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, static_cast<void*>(nullptr), sizeof(before_));
  }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  uint64_t before_ = 0;
};

}  // namespace telltale::recorder::sys
