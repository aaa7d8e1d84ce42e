// Keeps our handlers of fatal signals in programs that install their own crash handler. Such a
// handler replaces ours. When it is done, it usually restores the default action and raises the
// signal again. sigaction() and signal() are interposed: where the program sets the default action,
// they install our handler. Where our handler is installed, they report the default action, so that
// the program sees the same as without this library.
//
// A program that ignores a signal is killed all the same if one of its instructions raises it.
// Where it ignores such a signal, our handler is installed, and runs for what an instruction raised
// only. What differs: a signal that was sent interrupts calls that SA_RESTART does not restart, and
// programs that this one executes do not ignore it.
//
// Only with glibc, in executables and in libraries that the dynamic linker searches before libc: a
// library that a program opens would see its own calls alone.
#pragma once

#include <signal.h>

extern "C" {
// `handler` is installed for `signal`, and `before` was before it. From now on the default action
// is `handler`, unless `before` is neither the default action nor a handler given here: that one
// would no longer run. A second call for a signal must not be concurrent with the program's calls.
void telltale_keep_handler_v1(  // NOLINT: a symbol
    int signal, const struct sigaction* handler, const struct sigaction* before);

// The same for a signal that the program ignores: `before` says so, or is another handler that was
// given here. Installs the handler, and sets `before` to what the handler is to restore. 0 if it
// did not: `before` is something else, instructions do not raise the signal, or nothing is
// interposed.
int telltale_keep_ignored_v1(  // NOLINT: a symbol
    int signal, const struct sigaction* handler, struct sigaction* before);

// glibc's name for sigaction() that is not interposed.
__attribute__((weak)) int __sigaction(  // NOLINT: a symbol
    int signal, const struct sigaction* action, struct sigaction* old);
}

namespace telltale::signals {

// Signals from this number on are real-time signals.
constexpr int kSignalLimit = 32;

// sigaction() itself. The handlers restore the default action with it.
inline int set_action(int signal, const struct sigaction* action, struct sigaction* old) {
  return __sigaction != nullptr ? __sigaction(signal, action, old)
                                : ::sigaction(signal, action, old);
}

inline bool is_ignored(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

inline bool is_raised_by_instructions(int signal) {
  return signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGSEGV ||
         signal == SIGSYS || signal == SIGTRAP;
}

inline bool is_default(const struct sigaction& action) { return action.sa_handler == SIG_DFL; }

}  // namespace telltale::signals
