#include "kept_handlers.h"

#include <errno.h>

#include "aligned_handler.h"

// <signal.h> says whether libc is glibc.
#if defined(TELLTALE_BEFORE_LIBC) && defined(__GLIBC__)

extern "C" {
// Where a sanitizer is a shared library, the functions with which it interposes libc's. Its
// interceptors know the handlers of a program only if they install them.
__attribute__((weak)) int __interceptor_sigaction(  // NOLINT: a symbol
    int signal, const struct sigaction* action, struct sigaction* old);
__attribute__((weak)) sighandler_t __interceptor_signal(  // NOLINT: a symbol
    int signal, sighandler_t handler);
}

namespace telltale::signals {
namespace {

// Whether this copy is what the program calls. A sanitizer comes next then; otherwise it came
// before us, and calls us where it expects libc.
bool is_first();

int next_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  return __interceptor_sigaction != nullptr && is_first()
             ? __interceptor_sigaction(signal, action, old)
             : set_action(signal, action, old);
}

sighandler_t next_signal(int signal, sighandler_t handler) {
  return __interceptor_signal != nullptr && is_first() ? __interceptor_signal(signal, handler)
                                                       : ::ssignal(signal, handler);
}

struct sigaction kept[kSignalLimit];
bool is_kept[kSignalLimit];
// The program's handlers with SA_RESETHAND. The kernel would restore the default action, so that
// run_once() is installed instead.
struct sigaction once[kSignalLimit];

// What the program has set, where pass_faults() is installed.
struct sigaction ignored[kSignalLimit];

bool has_kept(int signal) {
  return signal > 0 && signal < kSignalLimit && __atomic_load_n(&is_kept[signal], __ATOMIC_ACQUIRE);
}

TELLTALE_SIGNAL_HANDLER void run_once(int signal, siginfo_t* info, void* context) {
  const struct sigaction action = once[signal];
  next_sigaction(signal, &kept[signal], nullptr);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

// For a signal that the program ignores. The kernel kills a program that ignores a signal which an
// instruction raises; our handler runs then. Signals that were sent are ignored.
TELLTALE_SIGNAL_HANDLER void pass_faults(int signal, siginfo_t* info, void* context) {
  const bool is_sent = info->si_code <= 0 || (signal == SIGBUS && info->si_code == BUS_MCEERR_AO);
  if (!is_sent) kept[signal].sa_sigaction(signal, info, context);
}

struct sigaction passing_faults(int signal, const struct sigaction& ignoring) {
  ignored[signal] = ignoring;
  struct sigaction action = kept[signal];
  action.sa_sigaction = pass_faults;
  action.sa_flags |= SA_RESTART;
  return action;
}

// What the program has set, if `installed` is what the kernel has. Some programs handle a signal
// only if it has the default action (CPython: SIGINT).
struct sigaction as_set(int signal, const struct sigaction& installed,
                        const struct sigaction& of_once) {
  if (installed.sa_sigaction == run_once) return of_once;
  if (installed.sa_sigaction == pass_faults) return ignored[signal];
  const struct sigaction by_default = {};
  return installed.sa_sigaction == kept[signal].sa_sigaction ? by_default : installed;
}

int set_and_keep(int signal, const struct sigaction* action, struct sigaction* old) {
  if (!has_kept(signal)) return next_sigaction(signal, action, old);
  const struct sigaction of_once = once[signal];
  struct sigaction wrapped = {};
  if (action != nullptr && is_default(*action)) {
    action = &kept[signal];
  } else if (action != nullptr && is_ignored(*action)) {
    if (is_raised_by_instructions(signal)) {
      wrapped = passing_faults(signal, *action);
      action = &wrapped;
    }
  } else if (action != nullptr && (action->sa_flags & SA_RESETHAND) != 0) {
    once[signal] = wrapped = *action;
    wrapped.sa_sigaction = run_once;
    wrapped.sa_flags = (wrapped.sa_flags & ~static_cast<int>(SA_RESETHAND)) | SA_SIGINFO;
    action = &wrapped;
  }
  struct sigaction installed = {};
  const int answer = next_sigaction(signal, action, &installed);
  if (answer == 0 && old != nullptr) *old = as_set(signal, installed, of_once);
  return answer;
}

}  // namespace
}  // namespace telltale::signals

using telltale::signals::is_kept;
using telltale::signals::kept;

// Weak, as are the functions below: two archives that are linked as a whole have one copy each.
extern "C" __attribute__((weak, visibility("default"))) void telltale_keep_handler_v1(
    int signal, const struct sigaction* handler, const struct sigaction* before) {
  if (__sigaction == nullptr || signal <= 0 || signal >= telltale::signals::kSignalLimit) return;
  const bool is_known = is_kept[signal] && before->sa_sigaction == kept[signal].sa_sigaction;
  if (!telltale::signals::is_default(*before) && !is_known) return;
  kept[signal] = *handler;
  __atomic_store_n(&is_kept[signal], true, __ATOMIC_RELEASE);
}

extern "C" __attribute__((weak, visibility("default"))) int telltale_keep_ignored_v1(
    int signal, const struct sigaction* handler, struct sigaction* before) {
  using namespace telltale::signals;
  if (__sigaction == nullptr || !is_raised_by_instructions(signal)) return 0;
  const bool is_first = before->sa_sigaction != pass_faults;
  if (is_first && !is_ignored(*before)) return 0;
  const struct sigaction by_default = {};
  const struct sigaction ignoring = is_first ? *before : ignored[signal];
  *before = is_first ? by_default : kept[signal];
  kept[signal] = *handler;
  __atomic_store_n(&is_kept[signal], true, __ATOMIC_RELEASE);
  const struct sigaction action = passing_faults(signal, ignoring);
  next_sigaction(signal, &action, nullptr);
  return 1;
}

// Weak: a sanitizer that is linked into the executable interposes them as well, and comes first.
#define TELLTALE_INTERPOSED extern "C" __attribute__((weak, visibility("default")))

TELLTALE_INTERPOSED int sigaction(int signal, const struct sigaction* action,
                                  struct sigaction* old) noexcept {
  return telltale::signals::set_and_keep(signal, action, old);
}

// As in BSD: the handler stays, and interrupted system calls are restarted.
TELLTALE_INTERPOSED sighandler_t signal(int signal, sighandler_t handler) noexcept {
  if (!telltale::signals::has_kept(signal)) return telltale::signals::next_signal(signal, handler);
  const struct sigaction of_once = telltale::signals::once[signal];
  struct sigaction installed = {};
  if (handler == SIG_IGN) {
    struct sigaction ignoring = {};
    ignoring.sa_handler = SIG_IGN;
    if (telltale::signals::set_and_keep(signal, &ignoring, &installed) != 0) return SIG_ERR;
    return installed.sa_handler;
  }
  if (handler == SIG_DFL) {
    if (telltale::signals::next_sigaction(signal, &kept[signal], &installed) != 0) return SIG_ERR;
  } else {
    installed.sa_handler = telltale::signals::next_signal(signal, handler);
  }
  return telltale::signals::as_set(signal, installed, of_once).sa_handler;
}

// As in System V: what signal() is for programs in strict ISO C.
TELLTALE_INTERPOSED sighandler_t __sysv_signal(  // NOLINT: a symbol
    int signal, sighandler_t handler) noexcept {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER;
  struct sigaction old = {};
  return telltale::signals::set_and_keep(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// The function of this copy, whatever the symbol is bound to. By its prefix, readers of core files
// know that it is ours.
extern "C" {
static __attribute__((alias("sigaction"))) int telltale_own_sigaction(  // NOLINT: as sigaction()
    int signal, const struct sigaction* action, struct sigaction* old) noexcept;
}

namespace telltale::signals {
namespace {

bool is_first() { return &::sigaction == &telltale_own_sigaction; }

}  // namespace
}  // namespace telltale::signals

#else

// Without interposition, handlers are replaced as they would be without this file.
extern "C" __attribute__((weak)) void telltale_keep_handler_v1(int /*signal*/,
                                                               const struct sigaction* /*handler*/,
                                                               const struct sigaction* /*before*/) {
}

extern "C" __attribute__((weak)) int telltale_keep_ignored_v1(int /*signal*/,
                                                              const struct sigaction* /*handler*/,
                                                              struct sigaction* /*before*/) {
  return 0;
}

#endif
