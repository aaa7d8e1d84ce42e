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

  uint64_t state_ = 0;
  uint32_t slot_ = 0;
  bool started_ = false;
};

// All threads' generators begin again: for the child of a fork.
void restart_generators();

}  // namespace telltale::sampler
