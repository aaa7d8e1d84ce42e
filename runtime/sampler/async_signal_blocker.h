// Keeps signal handlers from writing to the report.
#pragma once

#include <signal.h>

namespace telltale::sampler {

// Blocks asynchronous signals: a handler of ours, or an _exit in one of the program's, would write
// into the middle of what is being written. Faults stay unblocked: the thread that caused one
// cannot continue.
class AsyncSignalBlocker {
 public:
  // `waits_for_others`: the write may block, on a pipe. The program may rely on a signal, an alarm,
  // say, to end that, so only the signals whose handlers are ours are blocked.
  explicit AsyncSignalBlocker(bool waits_for_others) {
    constexpr int kOurs[] = {SIGABRT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
    constexpr int kFaults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t outside;
    if (waits_for_others) {
      ::sigemptyset(&outside);
      for (const int signal : kOurs) ::sigaddset(&outside, signal);
    } else {
      ::sigfillset(&outside);
      for (const int signal : kFaults) ::sigdelset(&outside, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &outside, &before_);
  }
  AsyncSignalBlocker(const AsyncSignalBlocker&) = delete;
  AsyncSignalBlocker& operator=(const AsyncSignalBlocker&) = delete;
  ~AsyncSignalBlocker() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_ = {};
};

}  // namespace telltale::sampler
