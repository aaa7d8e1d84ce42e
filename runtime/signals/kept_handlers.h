// Keeps our handlers of fatal signals in programs that install their own crash handler. Such a
// handler replaces ours. When it is done, it usually restores the default action and raises the
// signal again. sigaction() and signal() are interposed: where the program sets the default action,
// they install our handler. Where our handler is installed, they report the default action, so that
// the program sees the same as without this library.
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

inline bool is_default(const struct sigaction& action) { return action.sa_handler == SIG_DFL; }

}  // namespace telltale::signals
