// A counter that steps: what the recorder remembers of its last reading is changed, which looks the
// same to it. Built against the recorder's own headers.
#include <sched.h>

#include <cstdio>

#include "state.h"

using telltale::recorder::state;
using telltale::recorder::thread_state;

[[clang::xray_always_instrument]] __attribute__((noinline)) int leaf(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}

int main() {
  for (int i = 0; i < 1000; ++i) leaf(i);
  int more = 0;
  // Another CPU's counter is slightly ahead; retried if this thread was delayed for longer.
  while (state.side->clock_anomalies == 0) {
    thread_state.current->last += 1000;
    leaf(++more);
  }
  for (int i = 0; i < 1000; ++i) leaf(i);
  thread_state.current->last += 5'000'000'000;  // set back
  for (int i = 0; i < 1000; ++i) leaf(i);
  thread_state.current->last -= 50'000'000'000;  // a machine that slept
  for (int i = 0; i < 1000; ++i) leaf(i);
  cpu_set_t all;
  sched_getaffinity(0, sizeof(all), &all);
  int moves = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && moves < 8; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    ++moves;
    leaf(cpu);
  }
  std::printf("{\"calls\": {\"leaf\": %d}, \"cpus\": %d}\n", 4000 + more + moves, moves);
}
