#include "threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>

#include "../signals/aligned_handler.h"
#include "../signals/alignment_check.h"
#include "processor.h"
#include "system.h"

namespace telltale::paths {
namespace {

constexpr int kAnswerMs = 200;
constexpr time_t kMostHeldSeconds = 5;

Threads* asked = nullptr;
int released = 0;
int stop_signal = 0;
struct sigaction before;

// Thousands of threads may wait: they sleep until they are woken.
void wait_for_release() {
  const timespec most = {kMostHeldSeconds, 0};
  while (__atomic_load_n(&released, __ATOMIC_ACQUIRE) == 0) {
    if (::syscall(SYS_futex, &released, FUTEX_WAIT_PRIVATE, 0, &most, nullptr, 0) != 0 &&
        errno == ETIMEDOUT)
      return;
  }
}

TELLTALE_SIGNAL_HANDLER void on_stop(int, siginfo_t*, void* context) {
  const signals::WithoutAlignmentCheck unchecked;
  const int kept = errno;
  const int self = thread_id();
  Threads* const threads = __atomic_load_n(&asked, __ATOMIC_ACQUIRE);
  for (size_t i = 0; threads != nullptr && i < threads->count; ++i) {
    Thread& thread = threads->all[i];
    if (thread.tid != self) continue;
    take_registers(*static_cast<const ucontext_t*>(context), thread);
    __atomic_store_n(&thread.has_registers, 1, __ATOMIC_RELEASE);
    wait_for_release();
    break;
  }
  errno = kept;
}

// A signal that the program does not use; 0: none.
int unused_signal() {
  for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal) {
    if (::sigaction(signal, nullptr, &before) == 0 && (before.sa_flags & SA_SIGINFO) == 0 &&
        before.sa_handler == SIG_DFL)
      return signal;
  }
  return 0;
}

void list_threads(Threads& threads, int self) {
  struct Entry {  // linux_dirent64
    uint64_t inode;
    uint64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[1];  // and more
  };
  const File folder("/proc/self/task", O_RDONLY | O_DIRECTORY);
  alignas(Entry) static char entries[4096];
  for (;;) {
    const long got = folder.list(entries, sizeof(entries));
    if (got <= 0) return;
    for (long at = 0; at < got;) {
      const auto* const entry = reinterpret_cast<const Entry*>(entries + at);
      at += entry->bytes;
      int tid = 0;
      for (const char* c = entry->name; *c >= '0' && *c <= '9'; ++c) tid = tid * 10 + (*c - '0');
      if (tid == 0 || tid == self) continue;
      if (threads.count == Threads::kMost) {
        ++threads.left_out;
        continue;
      }
      threads.all[threads.count].tid = tid;
      threads.all[threads.count++].has_registers = 0;
    }
  }
}

// Where the outermost handler on the thread's signal stack interrupted the thread: the kernel keeps
// the registers and the bounds of the signal stack in a frame at its end.
uint64_t interrupted_stack(const ucontext_t& context) {
  const auto* const memory = static_cast<const char*>(context.uc_stack.ss_sp);
  const size_t bytes = context.uc_stack.ss_size;
  const auto begin = reinterpret_cast<uint64_t>(memory);
  const auto is_inside = [&](uint64_t pointer) { return pointer - begin < bytes; };
  const uint64_t pointer = stack_pointer(context);
  if (!is_inside(pointer) || bytes < kContextBytes) return 0;
  constexpr size_t kWord = sizeof(uint64_t);
  const size_t last = bytes - kContextBytes;
  for (size_t at = last - (begin + last) % kWord; at < bytes && begin + at >= pointer;
       at -= kWord) {
    const auto* const frame = reinterpret_cast<const ucontext_t*>(memory + at);
    const uint64_t stopped_at = stack_pointer(*frame);
    if (frame->uc_stack.ss_sp == context.uc_stack.ss_sp && frame->uc_stack.ss_size == bytes &&
        !is_inside(stopped_at))
      return stopped_at;
  }
  return 0;
}

}  // namespace

void take_registers(const ucontext_t& context, Thread& thread) {
  ::memset(&thread.registers, 0, sizeof(thread.registers));
  thread.thread_pointer = thread_pointer();
  thread.interrupted_stack = interrupted_stack(context);
  copy_registers(context, thread.registers);
}

void stop_threads(Threads& threads) {
  const size_t first = threads.count;
  list_threads(threads, thread_id());
  stop_signal = threads.count > first ? unused_signal() : 0;
  if (stop_signal == 0) return;
  __atomic_store_n(&released, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&asked, &threads, __ATOMIC_RELEASE);
  struct sigaction action = {};
  action.sa_sigaction = on_stop;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  ::sigaction(stop_signal, &action, nullptr);
  for (size_t i = first; i < threads.count; ++i)
    ::syscall(SYS_tgkill, ::getpid(), threads.all[i].tid, stop_signal);
  wait_until(kAnswerMs, [&] {
    for (size_t i = first; i < threads.count; ++i) {
      if (__atomic_load_n(&threads.all[i].has_registers, __ATOMIC_ACQUIRE) == 0) return false;
    }
    return true;
  });
  __atomic_store_n(&asked, nullptr, __ATOMIC_RELEASE);  // an answer comes too late now
}

// The handler stays: a thread that blocks the signal may still receive it.
void release_threads() {
  __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
  ::syscall(SYS_futex, &released, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace telltale::paths
