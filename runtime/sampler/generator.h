// When to observe: countdowns between observations. A Generator belongs to one thread.
#pragma once

#include <stdint.h>

#include "settings.h"
#include "unit.h"

namespace telltale::sampler {

class Generator {
 public:
  constexpr Generator() = default;

  // The next countdown of sites or regions, 1 or more; 0 if nothing is sampled.
  int32_t draw(const Settings& settings) { return draw(settings, settings.sparsity, drawn_); }
  void forget() {
    started_ = false;
    drawn_.left = 0;
  }

 protected:
  static constexpr uint32_t kDrawnAtOnce = 16;
  struct Drawn {
    uint32_t left = 0;
    int32_t numbers[kDrawnAtOnce] = {};  // the next is the last of those that are left
  };
  int32_t draw(const Settings& settings, double mean, Drawn& drawn);

 private:
  void start(const Settings& settings);
  void draw_some(double mean, Drawn& drawn);

  uint64_t state_ = 0;
  uint32_t slot_ = 0;
  Drawn drawn_;
  bool started_ = false;
};

// Of a process in which functions take turns.
class TurnGenerator : public Generator {
 public:
  constexpr TurnGenerator() = default;

  // How many regions are passed in calls of this stage, and how many calls.
  int32_t draw_regions(const Settings& settings, uint32_t stage);
  int32_t draw_calls(const Settings& settings, uint32_t stage);
  void forget();

 private:
  Drawn regions_[kStages];
  Drawn calls_[kStages];
};

// Forgets which call of the function is the next that has its turn: for the child of a fork.
void draw_turn_again(FunctionTurn& turn);

// In the parent, before each fork.
void number_child();
// All threads' generators begin again: for the child of a fork.
void restart_generators();

}  // namespace telltale::sampler
