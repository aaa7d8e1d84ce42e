// When to observe: countdowns between observations. A Generator belongs to one thread.
#pragma once

#include <stdint.h>

#include "abi.h"
#include "settings.h"

namespace telltale::sampler {

class Generator {
 public:
  constexpr Generator() = default;
  // With a seed, one that stands beside others draws other countdowns than they, by the order in
  // which they first draw; the first of them draws as one that stands alone.
  enum Company : bool { kAlone, kBesideOthers };
  constexpr explicit Generator(Company company) : company_(company) {}

  // The next countdown of sites or regions, 1 or more; 0 if nothing is sampled. `distance` is of
  // the settings.
  int32_t draw(const Settings& settings, const Geometric& distance);
  void forget() { started_ = false; }

 private:
  void start(const Settings& settings);

  uint64_t state_ = 0;
  uint32_t slot_ = 0;
  bool started_ = false;
  Company company_ = kAlone;
};

// Forgets which call of the function is the next that has its turn: for the child of a fork.
void redraw_call_counter(CallCounter& counter);

// In the parent, before each fork.
void count_fork();
// This thread's and the process's countdowns are to be drawn: before settings are known none is.
void begin_generators();
// All threads' generators begin again: for the child of a fork.
void restart_generators();

}  // namespace telltale::sampler
