// Many calls in few or small buffers, in one or more threads: more buffers than the ring has, or
// just many of them. Calls span buffer ends, so that buffers in wrong order show as exits without
// entries. Prints its own counts.

#include <thread>

#include "recorder.h"

namespace {
volatile uint64_t sink;
}

TRACED [[clang::xray_log_args(1)]] void inner(uint64_t number) { sink = sink + number; }

TRACED void middle(uint64_t number) {
  inner(2 * number);
  inner(2 * number + 1);
}

TRACED void outer(uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; ++i) middle(i);
}

UNTRACED void work(uint64_t calls) {
  constexpr uint64_t kEach = 50;
  for (uint64_t i = 0; i < calls; i += kEach) outer(i, i + kEach);
  recorder::returned("outer", calls / kEach);
  recorder::returned("middle", calls);
  recorder::returned("inner", 2 * calls);
}

// MODE OPTIONS CALLS THREADS; CALLS is a multiple of 50.
UNTRACED int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const auto calls = static_cast<uint64_t>(std::atoll(argv[3]));
  const int threads = std::atoi(argv[4]);
  recorder::name("inner", inner);
  recorder::name("middle", middle);
  recorder::name("outer", outer);
  recorder::start(argv);
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back(work, calls);
  for (std::thread& thread : pool) thread.join();
  recorder::stop();
  recorder::report();
}
