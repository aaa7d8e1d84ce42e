#pragma once

// What a program asks of the fake processor that it runs on; on a real one it is nothing.

#include <cstdint>

namespace fake_processor {

// In rcx of an instruction that reads the counter: it is no reading.
constexpr uint64_t kStepCounter = 0x7e1174a1e57e9000;

// From now on this thread's counter says `ticks` more than it would have.
__attribute__((no_instrument_function)) inline void step_counter(int64_t ticks) {
  uint64_t low;
  uint64_t what = kStepCounter;
  asm volatile("rdtsc" : "=a"(low), "+c"(what), "+d"(ticks) : : "memory");
}

}  // namespace fake_processor
