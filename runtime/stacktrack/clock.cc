#include "clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace telltale::st {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000U;
constexpr uint64_t kShortestBaselineNs = 1'000'000;

#if defined(__x86_64__)
// Does the counter run at a constant rate, independent of the processor's clock? (CPUID leaf
// 8000_0007H, EDX bit 8.)
bool counter_is_even() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8)) != 0;
}
uint64_t counter() { return __rdtsc(); }
#elif defined(__aarch64__)
bool counter_is_even() { return true; }
uint64_t counter() {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#else
bool counter_is_even() { return false; }
uint64_t counter() { return 0; }
#endif

__extension__ using Uint128 = unsigned __int128;

struct Pair {
  uint64_t ticks;
  uint64_t ns;
};

// Reads both clocks at one moment: of a few tries, the one whose two counter readings are closest.
Pair read_both() {
  Pair best{};
  uint64_t closest = UINT64_MAX;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const uint64_t before = counter();
    const uint64_t ns = monotonic_ns();
    const uint64_t after = counter();
    if (after - before >= closest) continue;
    closest = after - before;
    best = {before + closest / 2, ns};
  }
  return best;
}

}  // namespace

bool Clock::started_ = false;
bool Clock::counter_ = false;
uint64_t Clock::first_ticks_ = 0;
uint64_t Clock::first_ns_ = 0;
uint64_t Clock::frequency_ = 0;

void Clock::start(bool monotonic) {
  if (started_) return;
  started_ = true;
  counter_ = !monotonic && counter_is_even();
  const Pair first = read_both();
  first_ticks_ = first.ticks;
  first_ns_ = first.ns;
}

uint64_t Clock::ticks() { return counter_ ? counter() : monotonic_ns(); }

Clock::Moment Clock::moment() { return {ticks(), wall_time()}; }

uint64_t Clock::frequency() {
  if (!counter_) return kNsPerSecond;
  Pair now = read_both();
  while (now.ns - first_ns_ < kShortestBaselineNs) now = read_both();
  const uint64_t ns = now.ns - first_ns_;
  const uint64_t measured =
      static_cast<uint64_t>(static_cast<Uint128>(now.ticks - first_ticks_) * kNsPerSecond / ns);
  // The first measurement is wrong by at most a hundredth. A larger difference means that the
  // counter has stepped meanwhile.
  const uint64_t known = __atomic_load_n(&frequency_, __ATOMIC_RELAXED);
  const uint64_t apart = measured < known ? known - measured : measured - known;
  if (known != 0 && apart > known / 100) return known;
  __atomic_store_n(&frequency_, measured, __ATOMIC_RELAXED);
  return measured;
}

}  // namespace telltale::st
