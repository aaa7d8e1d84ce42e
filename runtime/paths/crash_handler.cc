// TELLTALE_PATHS=FILE: a program that crashes writes FILE. TELLTALE_PATHS_AT_EXIT=1: also one that
// calls exit() or returns from main.
//
// TELLTALE_COLLECT_PATHS=1, without TELLTALE_PATHS: the file goes beside the report of a program
// that puts its report into the folder TELLTALE_COLLECT, for `telltale send`.
//
// telltale-cc --trace links this into programs. Without the variable it does nothing.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "../signals/aligned_handler.h"
#include "../signals/alignment_check.h"
#include "../signals/kept_handlers.h"
#include "../signals/sanitizer_death.h"
#include "../signals/unchecked_memory.h"
#include "core_writer.h"
#include "processor.h"
#include "signal_stack.h"
#include "system.h"

// The Sampler's runtime in the same program, which has read its settings before: the name of the
// file beside its report; null: it puts none into a folder.
extern "C" __attribute__((weak, visibility("hidden"))) const char*
telltale_spooled_paths_v1();  // NOLINT: a symbol

namespace telltale::paths {
namespace {

// Those for which the kernel would write a core file.
constexpr int kSignals[] = {SIGABRT, SIGBUS, SIGFPE,  SIGILL,  SIGQUIT,
                            SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ};
// Not blocked in the handler: a fault in it ends the process.
constexpr int kFaults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
constexpr int kMostWaitMs = 900;

struct sigaction before[signals::kSignalLimit];
char pattern[kPathBytes];
// The process and the thread that writes the file. A child of vfork() has the memory of its parent,
// which may crash, too.
uint64_t writer = 0;
int done = 0;             // the process whose file is written
bool has_warned = false;  // at start-up: it is not said again

// Expands "%p" to the process id and "%%" to "%". False if the name is too long.
bool expand(char* path) {
  size_t used = 0;
  for (const char* from = pattern; *from != 0; ++from) {
    char digits[16];
    size_t count = 0;
    if (*from == '%' && from[1] == 'p') {
      for (auto number = static_cast<unsigned>(::getpid()); number != 0; number /= 10)
        digits[count++] = static_cast<char>('0' + number % 10);
      ++from;
    } else {
      if (*from == '%' && from[1] == '%') ++from;
      digits[count++] = *from;
    }
    if (used + count >= kPathBytes) return false;
    while (count > 0) path[used++] = digits[--count];
  }
  path[used] = 0;
  return true;
}

// A line on standard error, if there is a reason for it. Async-signal-safe.
void say_if(const char* why, const char* what, const char* path) {
  if (why == nullptr) return;
  const char* const parts[] = {"telltale: TELLTALE_PATHS: ", what, path, ": ", why, "\n"};
  for (const char* const part : parts) {
    if (::syscall(SYS_write, STDERR_FILENO, part, ::strlen(part)) < 0) return;
  }
}

// Restores the previous action, and raises the signal again: at once if the instruction faults
// again, else when the handler returns.
void hand_on(int signal, siginfo_t* info) {
  signals::set_action(signal, &before[signal], nullptr);
  const bool comes_by_itself =
      info->si_code > 0 && info->si_code != SI_KERNEL && signal != SIGTRAP && signal != SIGSYS;
  if (!comes_by_itself) ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), thread_id(), signal, info);
}

// Withholds SIGXFSZ, which a write beyond the limit of file sizes raises.
class WithoutFileSizeSignal {
 public:
  WithoutFileSizeSignal() {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    was_pending_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1;
    ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &signal_, &before_, kSetBytes);
  }
  WithoutFileSizeSignal(const WithoutFileSizeSignal&) = delete;
  WithoutFileSizeSignal& operator=(const WithoutFileSizeSignal&) = delete;
  ~WithoutFileSizeSignal() {
    const timespec now = {};
    if (!was_pending_) ::syscall(SYS_rt_sigtimedwait, &signal_, nullptr, &now, kSetBytes);
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, kSetBytes);
  }

 private:
  static constexpr size_t kSetBytes = 8;  // of the kernel's sets
  sigset_t signal_;
  sigset_t before_;
  bool was_pending_ = false;
};

constexpr int process_of(uint64_t thread) { return static_cast<int>(thread >> 32U); }

// The first thread writes; others wait for it. A fault while it writes ends the process.
void write_once(int signal, const siginfo_t& info, const ucontext_t& context) {
  const int process = ::getpid();
  const uint64_t self = static_cast<uint64_t>(process) << 32U | static_cast<uint32_t>(thread_id());
  uint64_t other = __atomic_load_n(&writer, __ATOMIC_RELAXED);
  if (process_of(other) != process &&
      __atomic_compare_exchange_n(&writer, &other, self, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED)) {
    static char path[kPathBytes];
    const signals::UncheckedMemory unchecked;
    const WithoutFileSizeSignal without;
    if (expand(path)) {
      const char* const why = write_core(path, signal, info, context);
      if (!has_warned) say_if(why, "no file was written to ", path);
    }
    __atomic_store_n(&done, process, __ATOMIC_RELEASE);
  } else if (other != self) {
    wait_until(kMostWaitMs,
               [process] { return __atomic_load_n(&done, __ATOMIC_ACQUIRE) == process; });
  }
}

TELLTALE_SIGNAL_HANDLER void on_fatal(int signal, siginfo_t* info, void* context) {
  const signals::WithoutAlignmentCheck unchecked;
  const int kept = errno;
  write_once(signal, *info, *static_cast<const ucontext_t*>(context));
  hand_on(signal, info);
  errno = kept;
}

// As the kernel has it for a handler: getcontext() leaves out the signal stack.
bool take_context(ucontext_t& here) {
  return ::getcontext(&here) == 0 && ::sigaltstack(nullptr, &here.uc_stack) == 0;
}

// The functions that led to a call of exit() are on the stack.
void on_exit() {
  const signals::WithoutAlignmentCheck unchecked;
  const siginfo_t none = {};
  ucontext_t here;
  if (take_context(here)) write_once(0, none, here);
}

// As if the sanitizer had called abort(), which users can make it do. Not again after a signal that
// its handler has got from ours.
void on_sanitizer_death() {
  siginfo_t aborted = {};
  aborted.si_signo = SIGABRT;
  aborted.si_code = SI_TKILL;
  ucontext_t here;
  if (process_of(__atomic_load_n(&writer, __ATOMIC_RELAXED)) != ::getpid() && take_context(here))
    write_once(SIGABRT, aborted, here);
}

// Makes the name absolute: the program may change its folder.
bool take_pattern(const char* name) {
  size_t used = 0;
  if (*name != '/') {
    static char folder[kPathBytes];
    if (::getcwd(folder, sizeof(folder)) == nullptr) return false;
    for (const char* from = folder; *from != 0; ++from) {
      if (used + 3 >= kPathBytes) return false;
      if (*from == '%') pattern[used++] = '%';
      pattern[used++] = *from;
    }
    pattern[used++] = '/';
  }
  const size_t bytes = ::strlen(name) + 1;
  if (bytes > kPathBytes - used) return false;
  ::memcpy(pattern + used, name, bytes);
  return true;
}

void watch_signals() {
  struct sigaction action = {};
  action.sa_sigaction = on_fatal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
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
}

// A program with other rights than its caller must not obey the caller's environment.
const char* chosen_name() {
  const char* const name = ::secure_getenv("TELLTALE_PATHS");
  if (name != nullptr && *name != 0) return name;
  const char* const collects = ::secure_getenv("TELLTALE_COLLECT_PATHS");
  const bool wanted = collects != nullptr && *collects != 0 && ::strcmp(collects, "0") != 0;
  return wanted && &telltale_spooled_paths_v1 != nullptr ? telltale_spooled_paths_v1() : nullptr;
}

// Reports at start-up that the crash file cannot be written: the program can still be started
// again.
void warn_if_not_writable() {
  static char path[kPathBytes];
  const char* const why = expand(path) ? why_not_writable(path) : "its name is too long";
  say_if(why, "no file will be written to ", path);
  has_warned = why != nullptr;
}

// Before the program's own constructors, which may crash.
__attribute__((constructor(101))) void begin() {
#if defined(TELLTALE_PATHS_PROCESSOR)
  const signals::UncheckedMemory unchecked;
  const char* const name = chosen_name();
  if (name == nullptr || *name == 0 || !take_pattern(name) || !prepare_core_writer()) return;
  warn_if_not_writable();
  prepare_signal_stacks();
  give_signal_stack();
  watch_signals();
  signals::at_sanitizer_death(on_sanitizer_death);
  const char* const at_exit = ::secure_getenv("TELLTALE_PATHS_AT_EXIT");
  if (at_exit != nullptr && *at_exit != 0) ::atexit(on_exit);
#endif
}

}  // namespace
}  // namespace telltale::paths

// The driver links this file by the name.
extern "C" {
// NOLINTBEGIN: a symbol
extern const char telltale_paths_v1;
const char telltale_paths_v1 = 0;
// NOLINTEND
}
