// Draws the countdowns between observations. A Generator belongs to one thread.
#pragma once

#include <stdint.h>

#include "abi.h"
#include "settings.h"

namespace telltale::sampler {

class Generator {
 public:
  constexpr Generator() = default;
  // With a seed, generators of several threads draw different countdowns, by the order in which
  // they first draw. The first of them draws as a single one does.
  enum Company : bool { kAlone, kBesideOthers };
  constexpr explicit Generator(Company company) : company_(company) {}

  // The next countdown of sites or regions, 1 or more; 0 if nothing is sampled. `distance` is from
  // `settings`.
  int32_t draw(const Settings& settings, const Geometric& distance);
  void forget() { started_ = false; }
  // Differs after each draw.
  [[nodiscard]] uint64_t state() const { return state_; }

 private:
  void start(const Settings& settings);

  uint64_t state_ = 0;
  uint32_t slot_ = 0;
  bool started_ = false;
  Company company_ = kAlone;
};

// Forgets the first calls of the process and of this thread. Call before a unit is unloaded, which
// has the call counters of its functions.
void forget_first_calls();
// In the child of a fork: forgets which call of the function is sampled next.
void redraw_call_counter(CallCounter& counter);

// Counts a fork, because the child's seed depends on the number of forks. Call in the thread that
// forks, before the fork.
void count_fork();
// Resets the countdowns of this thread and of the process. None was drawn before the settings were
// known.
void begin_generators();
// Restarts all generators. For the child of a fork.
void restart_generators();

}  // namespace telltale::sampler
