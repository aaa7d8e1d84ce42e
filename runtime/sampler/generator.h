// When to observe: countdowns between observations. A Generator belongs to one thread.
#pragma once

#include <stdint.h>

#include "settings.h"

namespace telltale::sampler {

class Generator {
 public:
  constexpr Generator() = default;

  // The next countdown, 1 or more; 0 if nothing is sampled.
  int32_t draw(const Settings& settings);
  void forget() { started_ = false; }

 private:
  void start(const Settings& settings);
  void draw_some(double sparsity);

  uint64_t state_ = 0;
  static constexpr uint32_t kDrawnAtOnce = 16;

  uint32_t slot_ = 0;
  uint32_t left_ = 0;
  int32_t drawn_[kDrawnAtOnce] = {};  // the next is the last of those that are left
  bool started_ = false;
};

// All threads' generators begin again: for the child of a fork.
void restart_generators();

}  // namespace telltale::sampler
