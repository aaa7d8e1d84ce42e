#pragma once

// Requests of a program to its fake processor; without effect on a real one.

#include <cstdint>

namespace fake_processor {

// In rcx of an instruction that reads the counter: this is a request, not a reading.
constexpr uint64_t kStepCounter = 0x7e1174a1e57e9000;

// Adds `ticks` to this thread's counter from now on.
__attribute__((no_instrument_function)) inline void step_counter(int64_t ticks) {
  uint64_t low;
  uint64_t what = kStepCounter;
  asm volatile("rdtsc" : "=a"(low), "+c"(what), "+d"(ticks) : : "memory");
}

}  // namespace fake_processor
