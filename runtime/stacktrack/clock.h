#pragma once

#include <cstdint>

#include "system.h"

namespace telltale::st {

// The clock of all records of this process: the processor's counter if it is constant, otherwise
// CLOCK_MONOTONIC.
class Clock {
 public:
  // Selects the clock; only the first call has an effect. `monotonic`: use CLOCK_MONOTONIC in any
  // case.
  static void start(bool monotonic);
  static bool is_counter() { return counter_; }
  // Ticks, and the other two clocks at the same moment.
  struct Moment {
    uint64_t ticks;
    timespec wall;
  };
  static uint64_t ticks();
  static Moment moment();
  // Ticks per second, measured over the time since start(): within 0.01 % after the first
  // millisecond, and more precise the longer the program runs. A counter that steps does not change
  // it.
  static uint64_t frequency();

 private:
  static bool started_;
  static bool counter_;
  static uint64_t first_ticks_;
  static uint64_t first_ns_;
  static uint64_t frequency_;  // the last measurement
};

}  // namespace telltale::st
