// R13: `clocks`: two threads whose counters step between their events, in the hands of
// fake_processor. Prints how many events each of them makes.
#include <cstdio>
#include <thread>

#include "event.h"
#include "fake_processor.h"

namespace {

constexpr int64_t kSteps[] = {0, -3'000'000, -5'000'000'000, 50'000'000'000, -50'000'000'000, 17};
// Each reading takes some microseconds there: a counter that is a millisecond behind goes back.
constexpr int kEach = 400;
constexpr int kMoves = 100;

QUIET void stepping() {
  for (const int64_t step : kSteps) {
    fake_processor::step_counter(step);
    events(kEach);
  }
  // From one processor to the other and back, whose counters differ.
  for (int i = 0; i < kMoves; ++i) {
    fake_processor::step_counter(i % 2 == 0 ? 3'000'000 : -3'000'000);
    events(3);
  }
}

}  // namespace

int main() {
  std::thread other(stepping);
  stepping();
  other.join();
  std::printf("%zu\n", std::size(kSteps) * kEach + kMoves * 3);
}
