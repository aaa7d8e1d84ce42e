#pragma once

#include <stdint.h>
#include <time.h>

#include "writer.h"

namespace telltale::sampler {

// Waits for another thread while it makes progress, that is, while bytes are written, and half a
// second longer. After that, assume that the thread is stuck.
class ProgressTimeout {
 public:
  // Sleeps for a millisecond. Returns false at once if the time is over.
  bool wait() {
    const uint64_t written = __atomic_load_n(&bytes_written, __ATOMIC_RELAXED);
    if (written != written_) left_ = kMilliseconds;
    written_ = written;
    if (left_ == 0) return false;
    --left_;
    constexpr long kMillisecond = 1'000'000;
    const timespec pause = {0, kMillisecond};
    ::nanosleep(&pause, nullptr);
    return true;
  }

 private:
  static constexpr int kMilliseconds = 500;
  int left_ = kMilliseconds;
  uint64_t written_ = 0;
};

}  // namespace telltale::sampler
