// Keeps failing writes from ending the program.
#pragma once

#include <signal.h>
#include <time.h>

namespace telltale::sampler {

// Blocks SIGPIPE and SIGXFSZ, and discards those that our writes raise: a closed pipe or a file
// size limit must not end the program.
class WriteSignalBlocker {
 public:
  WriteSignalBlocker() {
    ::sigemptyset(&harm_);
    ::sigaddset(&harm_, SIGPIPE);
    ::sigaddset(&harm_, SIGXFSZ);
    ::sigpending(&waiting_);
    ::pthread_sigmask(SIG_BLOCK, &harm_, &before_);
  }
  WriteSignalBlocker(const WriteSignalBlocker&) = delete;
  WriteSignalBlocker& operator=(const WriteSignalBlocker&) = delete;
  ~WriteSignalBlocker() {
    constexpr int kHarm[] = {SIGPIPE, SIGXFSZ};
    for (const int signal : kHarm) {
      sigset_t now;
      ::sigpending(&now);
      if (::sigismember(&now, signal) == 0 || ::sigismember(&waiting_, signal) != 0) continue;
      sigset_t one;
      ::sigemptyset(&one);
      ::sigaddset(&one, signal);
      const timespec at_once = {};
      ::sigtimedwait(&one, nullptr, &at_once);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t harm_;
  sigset_t waiting_;
  sigset_t before_;
};

}  // namespace telltale::sampler
