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

  // As draw(), for a generator that begins with this state: POSIX's 48-bit linear congruential
  // sequence.
  static double uniform(uint64_t& state);
  // Geometric with the mean `sparsity`, from one number between 0 and 1.
  static int32_t geometric(double uniform, double sparsity);

 private:
  void start(const Settings& settings);

  uint64_t state_ = 0;
  uint32_t slot_ = 0;
  bool started_ = false;
};

// All threads' generators begin again: for the child of a fork.
void restart_generators();

}  // namespace telltale::sampler
