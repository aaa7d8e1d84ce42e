// R13: `clocks`: two threads whose counters step between their events, in the hands of
// fake_processor. Prints how many events each of them makes: more with an argument.
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "event.h"
#include "fake_processor.h"

namespace {

constexpr int64_t kSteps[] = {0, -3'000'000, -5'000'000'000, 50'000'000'000, -50'000'000'000, 17};
// Each reading takes some microseconds there: a counter a millisecond behind goes back.
constexpr int kEach = 400;
constexpr int kMoves = 100;

QUIET void stepping(int times) {
  for (const int64_t step : kSteps) {
    fake_processor::step_counter(step);
    events(kEach * times);
  }
  // From one processor to the other and back; their counters differ.
  for (int i = 0; i < kMoves; ++i) {
    fake_processor::step_counter(i % 2 == 0 ? 3'000'000 : -3'000'000);
    events(3 * times);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 1;
  std::thread other(stepping, times);
  stepping(times);
  other.join();
  std::printf("%d\n", times * static_cast<int>(std::size(kSteps) * kEach + kMoves * 3));
}
