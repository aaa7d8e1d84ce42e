#pragma once

#include <cstdint>

#include "system.h"

namespace telltale::st {

// The clock of all records of this process: the processor's counter where it runs evenly, else
// CLOCK_MONOTONIC.
class Clock {
 public:
  // Chooses; the first call counts. `monotonic`: take CLOCK_MONOTONIC in any case.
  static void start(bool monotonic);
  static bool is_counter() { return counter_; }
  // Ticks, and the moment's other two clocks.
  struct Moment {
    uint64_t ticks;
    timespec wall;
  };
  static uint64_t ticks();
  static Moment moment();
  // Ticks in a second. The longer the program has run, the better it is known: measured over the
  // time since start() (within 0.01 % after the first millisecond). A counter that steps does not
  // change it.
  static uint64_t frequency();

 private:
  static bool started_;
  static bool counter_;
  static uint64_t first_ticks_;
  static uint64_t first_ns_;
  static uint64_t frequency_;  // the last that was measured
};

}  // namespace telltale::st
