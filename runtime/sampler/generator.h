// When to observe: countdowns between observations. A Generator belongs to one thread.
#pragma once

#include <stdint.h>

#include "settings.h"
#include "unit.h"

namespace telltale::sampler {

class Generator {
 public:
  constexpr Generator() = default;

  // The next countdown of sites or regions, 1 or more; 0 if nothing is sampled. `distance` is of
  // the settings.
  int32_t draw(const Settings& settings, const Geometric& distance);
  void forget() { started_ = false; }

 private:
  void start(const Settings& settings);

  uint64_t state_ = 0;
  uint32_t slot_ = 0;
  bool started_ = false;
};

// Forgets which call of the function is the next that has its turn: for the child of a fork.
void draw_turn_again(FunctionTurn& turn);

// In the parent, before each fork.
void number_child();
// All threads' generators begin again: for the child of a fork.
void restart_generators();

}  // namespace telltale::sampler
