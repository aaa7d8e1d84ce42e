// A stretch in which no handler may write to the report.
#pragma once

#include <signal.h>

namespace telltale::sampler {

// Signals that come from outside wait until the end of the stretch: what a handler of ours, or an
// _exit in one of the program's, writes would stand in the middle of what is being written. Faults
// do not wait: whoever caused one cannot go on.
class AsyncSignalBlocker {
 public:
  // `waits_for_others`: what is written to may have to be read first, a pipe. Who has a handler to
  // get out of that, by an alarm, say, keeps it; ours would only write, too.
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
