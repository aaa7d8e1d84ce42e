#include "system.h"

#include <linux/falloc.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "../descriptors/above_standard.h"

namespace telltale::st {
namespace {

// Preserves errno; syscall() is the only entry, and not a cancellation point.
template <typename... Arguments>
long call(long number, Arguments... arguments) {
  const KeepErrno keep;
  const long result = ::syscall(number, arguments...);
  return result < 0 ? -errno : result;
}

// Also creates the file's pages, many at once: a store into a missing page costs several times as
// much, because the kernel creates each one separately. The kernel keeps the pages of each write as
// one large folio, and the first store into each page examines the whole folio: with a MiB at once,
// stores cost ten times as much as with 64 KiB, which is best.
int write_zeros(int file, uint64_t offset, uint64_t bytes) {
  static const char kZeros[65536] = {};
  while (bytes > 0) {
    const uint64_t most = sizeof(kZeros) - offset % sizeof(kZeros);
    const uint64_t part = bytes < most ? bytes : most;
    const long done = call(SYS_pwrite64, file, kZeros, part, offset);
    if (done == -EINTR) continue;
    if (done <= 0) return done == 0 ? -EIO : static_cast<int>(done);
    offset += static_cast<uint64_t>(done);
    bytes -= static_cast<uint64_t>(done);
  }
  return 0;
}

void* map(int file, uint64_t offset, size_t bytes, int flags) {
  const KeepErrno keep;
  void* const base =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, static_cast<off_t>(offset));
  hand_memory_on();
  return base == MAP_FAILED ? nullptr : base;
}

char handed_on;  // its address alone matters

}  // namespace

void hand_memory_on() {
  if (__tsan_release != nullptr) __tsan_release(&handed_on);
}
void take_memory() {
  if (__tsan_acquire != nullptr) __tsan_acquire(&handed_on);
}

int open_file(const char* path, int flags, unsigned mode) {
  const auto kernel = [](long number, auto... arguments) { return call(number, arguments...); };
  return static_cast<int>(descriptors::open_above_standard(kernel, path, flags | O_NOCTTY, mode));
}

void close_file(int file) { call(SYS_close, file); }

int write_all(int file, const void* bytes, size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const long done = call(SYS_write, file, at, count);
    if (done == -EINTR) continue;
    if (done <= 0) return done == 0 ? -EIO : static_cast<int>(done);
    at += done;
    count -= static_cast<size_t>(done);
  }
  return 0;
}

int sync_file(int file) { return static_cast<int>(call(SYS_fdatasync, file)); }
int read_link(const char* path, char* target, size_t bytes) {
  return static_cast<int>(call(SYS_readlinkat, AT_FDCWD, path, target, bytes));
}
int remove_file(const char* path) {
  return static_cast<int>(call(SYS_unlinkat, AT_FDCWD, path, 0));
}
int rename_file(const char* from, const char* to) {
  return static_cast<int>(call(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0U));
}

int identify_file(int file, uint64_t* device, uint64_t* inode, uint64_t* bytes) {
  struct stat status;
  const KeepErrno keep;
  if (::fstat(file, &status) != 0) return -errno;
  *device = status.st_dev;
  *inode = status.st_ino;
  *bytes = static_cast<uint64_t>(status.st_size);
  return S_ISREG(status.st_mode) ? 0 : -EINVAL;
}

int size_of_file(int file, uint64_t* bytes) {
  struct stat status;
  const KeepErrno keep;
  if (::fstat(file, &status) != 0) return -errno;
  *bytes = static_cast<uint64_t>(status.st_size);
  return 0;
}

int allocate_file(int file, uint64_t offset, uint64_t bytes) {
  struct rlimit limit;
  // Beyond the limit the system call would send SIGXFSZ to a program that does not know of this
  // file.
  if (call(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur) {
    return -EFBIG;
  }
  long result = -EINTR;
  for (int attempt = 0; attempt < 16 && result == -EINTR; ++attempt)
    result = call(SYS_fallocate, file, 0, offset, bytes);
  if (result == -EOPNOTSUPP || result == -ENOSYS) return write_zeros(file, offset, bytes);
  if (result == 0) write_zeros(file, offset, bytes);  // the blocks are allocated in any case
  return static_cast<int>(result);
}

void* map_file(int file, uint64_t offset, size_t bytes) {
  return map(file, offset, bytes, MAP_SHARED);
}

void* map_memory(size_t bytes) { return map(-1, 0, bytes, MAP_PRIVATE | MAP_ANONYMOUS); }

bool replace_with_memory(void* base, size_t bytes) {
  const KeepErrno keep;
  return ::mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}
void count_if_mapped(uint64_t* count) {
  constexpr uint32_t kAddOne = uint32_t{FUTEX_OP_ADD} << 28 | 1U << 12;
  call(SYS_futex, count, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0L, count, kAddOne);
}
void forbid_access(void* base, size_t bytes) { call(SYS_mprotect, base, bytes, PROT_NONE); }

void unmap(void* base, size_t bytes) { call(SYS_munmap, base, bytes); }

uint32_t process_id() { return static_cast<uint32_t>(call(SYS_getpid)); }
uint32_t parent_process_id() { return static_cast<uint32_t>(call(SYS_getppid)); }
void thread_name(char (&name)[kThreadNameBytes]) {
  name[0] = 0;
  call(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
}
uint32_t thread_id() { return static_cast<uint32_t>(call(SYS_gettid)); }
bool thread_is_gone(uint32_t pid, uint32_t tid) { return call(SYS_tgkill, pid, tid, 0) == -ESRCH; }
void yield_processor() { call(SYS_sched_yield); }
void sleep_ns(long ns) {
  const timespec pause{0, ns};
  call(SYS_nanosleep, &pause, nullptr);
}
void send_again(int number, siginfo_t* info) {
  call(SYS_rt_tgsigqueueinfo, process_id(), thread_id(), number, info);
}

uint64_t monotonic_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

timespec wall_time() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

}  // namespace telltale::st
