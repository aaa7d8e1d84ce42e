// When to observe: countdowns between observations. A Generator belongs to one thread.
#pragma once

#include <stdint.h>

#include "settings.h"

namespace telltale::sampler {

// What a countdown counts: sites or regions; regions of calls whose turn it is; calls until the
// next turn.
enum class Counting : uint8_t { kAll, kDense, kTurns };

// One call in how many has its turn. With sparsity s and turns for one call in t, one region in s /
// t of such calls is observed: one in s, as of all others.
double calls_per_turn(const Settings& settings);

class Generator {
 public:
  constexpr Generator() = default;

  // The next countdown, 1 or more; 0 if nothing is sampled.
  int32_t draw(const Settings& settings, Counting counting = Counting::kAll);
  void forget() { started_ = false; }

 private:
  void start(const Settings& settings);
  static constexpr uint32_t kDrawnAtOnce = 16;
  struct Drawn {
    uint32_t left = 0;
    int32_t numbers[kDrawnAtOnce] = {};  // the next is the last of those that are left
  };
  void draw_some(double sparsity, Drawn& drawn);

  uint64_t state_ = 0;
  uint32_t slot_ = 0;
  Drawn drawn_[3];  // by Counting
  bool started_ = false;
};

struct FunctionTurn;
// Forgets which call of the function is the next that has its turn: for the child of a fork.
void draw_turn_again(FunctionTurn& turn);

// In the parent, before each fork.
void number_child();
// All threads' generators begin again: for the child of a fork.
void restart_generators();

}  // namespace telltale::sampler
