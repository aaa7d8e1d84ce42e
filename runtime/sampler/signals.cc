#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "../signals/aligned_handler.h"
#include "../signals/alignment_check.h"
#include "../signals/kept_handlers.h"
#include "../signals/sanitizer_death.h"
#include "backtrace.h"
#include "leader.h"
#include "progress_timeout.h"
#include "registry.h"
#include "report.h"

namespace telltale::sampler {
namespace {

constexpr int kSignals[] = {SIGABRT, SIGBUS,  SIGFPE, SIGHUP,  SIGILL,  SIGINT,  SIGPIPE,
                            SIGQUIT, SIGSEGV, SIGSYS, SIGTERM, SIGTRAP, SIGXCPU, SIGXFSZ};
// Stay unblocked, so that our own faults reach the handler. Others wait until it returns.
constexpr int kFaults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};

struct sigaction before[signals::kSignalLimit];
bool watching = false;
pthread_key_t stack_key;
bool has_stack_key = false;
size_t page_bytes = 4096;
size_t stack_bytes = size_t{256} * 1024;

// The first thread that crashes reports. If that faults, it skips the part of the report that it
// was at.
enum : int { kNobody = 0, kEnding = -1 };  // kEnding: who reported is about to end the process
int reporter = kNobody;
sigjmp_buf next_part;
int faults = 0;
constexpr int kMaxFaults = 8;
int reported_signal = 0;  // the last one; its other handlers, or the program, went on

// Restores the previous action and raises the signal again.
void reraise(int signal, siginfo_t* info) {
  signals::set_action(signal, &before[signal], nullptr);
  const bool comes_by_itself = info != nullptr && info->si_code > 0 && info->si_code != SI_KERNEL &&
                               signal != SIGTRAP && signal != SIGSYS;
  if (comes_by_itself) return;
  // It is delivered when the handler returns.
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
  if (info != nullptr) {
    ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), signal, info);
  } else {
    ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal);
  }
}

// Returns whether the thread became the reporter; otherwise sets `seen` to the one that is.
bool become_reporter(int self, int& seen) {
  return __atomic_compare_exchange_n(&reporter, &seen, self, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}

// Waits until the reporter is done or stuck. If it was about to end the process, and the process
// still exists, as the first of a container may, this thread becomes the reporter; returns whether
// it did.
bool wait_for_reporter(int self) {
  ProgressTimeout timeout;
  while (__atomic_load_n(&reporter, __ATOMIC_ACQUIRE) != kNobody && timeout.wait()) {
  }
  int seen = kEnding;
  return become_reporter(self, seen);
}

// The interrupted program counter.
void* interrupted_at(void* context) {
  if (context == nullptr) return nullptr;
#if defined(__x86_64__) && defined(__linux__)
  const greg_t at = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__) && defined(__linux__)
  const unsigned long long at = static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#else
  const uintptr_t at = 0;
  (void)context;
#endif
  return reinterpret_cast<void*>(static_cast<uintptr_t>(at));  // NOLINT: a register has a number
}

// Only the reporter calls this. `ends`: the signal will end the process, or, if it is 0, an exit
// with `status`.
void report_all(int signal, int status, bool ends, void* context, void* handler_caller) {
  constexpr int kParts = 5;
  faults = 0;
  volatile int parts_begun = 0;  // keeps its value through a jump
  (void)sigsetjmp(next_part, 1);
  while (parts_begun < kParts) {
    parts_begun = parts_begun + 1;
    if (parts_begun == 1) report_crash();
    if (parts_begun == 2) take_backtrace(interrupted_at(context), handler_caller);
    if (parts_begun == 3) report_backtrace(interrupted_at(context), true);
    if (parts_begun == 4) report_backtrace(interrupted_at(context), false);
    if (parts_begun == 5 && ends) report_outcome(signal, status);
  }
  release_report_lock();
}

// A handler of the program may call ours with the signal's number alone, as signal() allows. A
// siginfo_t from the kernel is on the current stack.
bool is_from_kernel(const siginfo_t* info, int signal) {
  constexpr uintptr_t kMostBytes = uintptr_t{128} * 1024;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto there = reinterpret_cast<uintptr_t>(info);
  return there > here && there - here < kMostBytes && there % alignof(siginfo_t) == 0 &&
         info->si_signo == signal;
}

TELLTALE_SIGNAL_HANDLER void on_fatal(int signal, siginfo_t* info, void* context) {
  const signals::WithoutAlignmentCheck unchecked;
  const int kept = errno;
  if (!is_from_kernel(info, signal)) {
    info = nullptr;
    context = nullptr;
  }
  const int self = static_cast<int>(::syscall(SYS_gettid));
  int seen = kNobody;
  if (!become_reporter(self, seen)) {
    if (seen == self) {
      if (info == nullptr || info->si_code <= 0)
        return;  // the signal was sent, and is already being reported
      if (++faults < kMaxFaults) siglongjmp(next_part, 1);
    } else if (wait_for_reporter(self)) {
      seen = kNobody;
    }
  }
  if (seen == kNobody) {
    const bool ends =
        (before[signal].sa_flags & SA_SIGINFO) == 0 && before[signal].sa_handler == SIG_DFL;
    if (owns_report()) {
      report_all(signal, 0, ends, context, __builtin_return_address(0));
      reported_signal = signal;
    }
    // If the process is about to end, no other report may begin.
    __atomic_store_n(&reporter, ends ? kEnding : kNobody, __ATOMIC_RELEASE);
  }
  reraise(signal, info);
  errno = kept;
}

// A sanitizer ends the process. If a signal was the reason, it has been reported, but not that it
// ended the process: the sanitizer's handler runs after ours.
void on_sanitizer_death() {
  const int self = static_cast<int>(::syscall(SYS_gettid));
  int seen = kNobody;
  if (!owns_report()) return;
  if (!become_reporter(self, seen)) {
    if (seen == self) return;  // the error is in the report's own code
    const bool is_next = wait_for_reporter(self);
    seen = kNobody;
    if (!is_next && !become_reporter(self, seen)) return;
  }
  if (reported_signal != 0) {
    report_crash();
    report_outcome(reported_signal, 0);
    release_report_lock();
  } else {
    report_all(0, failing_status(), true, nullptr, __builtin_return_address(0));
  }
  __atomic_store_n(&reporter, kEnding, __ATOMIC_RELEASE);
}

void free_signal_stack(void* memory) {
  stack_t now = {};
  ::sigaltstack(nullptr, &now);
  if (now.ss_sp == memory) {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  ::munmap(static_cast<char*>(memory) - page_bytes, page_bytes + stack_bytes);
}

void measure_stacks() {
  page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
#ifdef AT_MINSIGSTKSZ
  const size_t least = 4 * ::getauxval(AT_MINSIGSTKSZ);
  if (stack_bytes < least) stack_bytes = least;
#endif
  stack_bytes = (stack_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

void install_signal_stack() {
  if (const EntryPoints* const other = leader(); other != nullptr)
    return other->install_signal_stack();
  if (!watching) return;
  const int kept = errno;
  stack_t now = {};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) {
    errno = kept;
    return;
  }
  // The lowest page is a guard.
  void* const memory = ::mmap(nullptr, page_bytes + stack_bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory != MAP_FAILED) {
    stack_t ours = {};
    ours.ss_sp = static_cast<char*>(memory) + page_bytes;
    ours.ss_size = stack_bytes;
    if (::mprotect(ours.ss_sp, stack_bytes, PROT_READ | PROT_WRITE) == 0 &&
        ::sigaltstack(&ours, nullptr) == 0 && has_stack_key)
      ::pthread_setspecific(stack_key, ours.ss_sp);
  }
  errno = kept;
}

bool watches_signals() {
  const EntryPoints* const other = leader();
  return other != nullptr ? other->watches_signals() : watching;
}

void forget_reporter() { reporter = kNobody; }

void watch_signals() {
  if (watching) return;
  watching = true;
  link_thread_hooks();
  prepare_backtrace();
  measure_stacks();
  has_stack_key = ::pthread_key_create(&stack_key, free_signal_stack) == 0;
  install_signal_stack();
  struct sigaction action = {};
  action.sa_sigaction = on_fatal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) ::sigaddset(&action.sa_mask, signal);
  for (const int signal : kFaults) ::sigdelset(&action.sa_mask, signal);
  for (const int signal : kSignals) {
    signals::set_action(signal, nullptr, &before[signal]);
    if (telltale_keep_ignored_v1(signal, &action, &before[signal]) != 0) continue;
    // Other ignored signals stay ignored.
    if (signals::is_ignored(before[signal])) continue;
    signals::set_action(signal, &action, nullptr);
    telltale_keep_handler_v1(signal, &action, &before[signal]);
  }
  signals::at_sanitizer_death(on_sanitizer_death);
}

}  // namespace telltale::sampler
