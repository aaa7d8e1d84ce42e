#include "clock.h"

#include <cpuid.h>

#include "bare_thread.h"
#include "record.h"
#include "syscalls.h"

namespace telltale::recorder {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kFirstMeasureNs = 200'000;
constexpr long kTickNs = 1'000'000;
// The assumed uncertainty of the processor's own figure without a measurement; parts in 10^9.
constexpr uint32_t kStatedUncertainty = 100'000;

enum Source : uint32_t { kExact = 1, kStated = 2, kMeasured = 3 };

bool invariant_counter() {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  return __get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}

// Ticks per second according to the processor or hypervisor; 0: unknown.
uint64_t stated_frequency() {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid(0x15, &a, &b, &c, &d) != 0 && a != 0 && b != 0 && c != 0)
    return uint64_t{c} * b / a;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 31) == 0) return 0;
  __cpuid(0x4000'0000, a, b, c, d);
  if (a < 0x4000'0010) return 0;
  __cpuid(0x4000'0010, a, b, c, d);
  return uint64_t{a} * 1000;
}

// The counter and CLOCK_MONOTONIC_RAW read together: the closest pair of a few tries.
struct Pair {
  uint64_t ticks;
  uint64_t ns;
  uint64_t bracket;  // ticks between the readings around the clock's
};
Pair read_pair() {
  Pair best{0, 0, UINT64_MAX};
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = read_counter();
    const auto ns = static_cast<uint64_t>(sys::clock_ns(CLOCK_MONOTONIC_RAW));
    const uint64_t after = read_counter();
    if (after - before < best.bracket) best = {before + (after - before) / 2, ns, after - before};
  }
  return best;
}

struct Measured {
  uint64_t frequency = 0;
  uint32_t uncertainty = 0;
};
Measured measure(const Pair& begin, const Pair& end) {
  const uint64_t ticks = end.ticks - begin.ticks;
  const uint64_t ns = end.ns - begin.ns;
  if (ns == 0 || static_cast<int64_t>(ticks) <= 0) return {};
  const auto frequency = static_cast<uint64_t>(static_cast<Wide>(ticks) * kSecond / ns);
  // Each end is known to half its bracket; the clock itself to a nanosecond.
  const uint64_t doubt = (begin.bracket + end.bracket) / 2 + 2 * ticks / ns + 2;
  const auto parts = static_cast<uint64_t>(static_cast<Wide>(doubt) * kSecond / ticks);
  return {frequency, static_cast<uint32_t>(least(parts + 1, UINT32_MAX))};
}

void tell(uint64_t frequency, uint32_t source, uint32_t uncertainty) {
  state.side->frequency = frequency;
  state.side->frequency_source = source;
  state.side->frequency_uncertainty = uncertainty;
  __atomic_store_n(&state.header->frequency, frequency, __ATOMIC_RELAXED);
}

void tick() {
  const uint32_t epoch = state.epoch;
  while (state.recording && state.epoch == epoch) {
    const timespec pause{0, kTickNs};
    sys::call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, static_cast<void*>(nullptr));
    __atomic_store_n(&gap_ticks, gap_ticks + 1, __ATOMIC_RELAXED);
  }
  __atomic_fetch_sub(&state.fork_mark->timers, 1, __ATOMIC_RELEASE);
}

}  // namespace

void choose_clock() {
  state.clock = state.options.clock;
  if (state.clock == ClockKind::automatic)
    state.clock = invariant_counter() ? ClockKind::tsc : ClockKind::monotonic;
  state.sparse_interval =
      state.clock == ClockKind::sparse ? state.options.sparse_interval : uint32_t{0};
}

void start_clock() {
  state.side->start_realtime_ns = static_cast<uint64_t>(sys::clock_ns(CLOCK_REALTIME));
  state.side->start_monotonic_ns = static_cast<uint64_t>(sys::clock_ns(CLOCK_MONOTONIC));
  if (state.clock == ClockKind::monotonic) {
    state.side->start_ticks = state.side->start_monotonic_ns;
    tell(kSecond, kExact, 0);
    return;
  }
  Pair begin = read_pair();
  state.side->start_ticks = state.start_ticks = begin.ticks;
  state.start_raw_ns = begin.ns;
  state.start_bracket = begin.bracket;
  state.next_calibration = begin.ticks;
  const uint64_t stated = stated_frequency();
  if (stated != 0) {
    tell(stated, kStated, kStatedUncertainty);
    return;
  }
  Pair end = begin;
  while (end.ns - begin.ns < kFirstMeasureNs) end = read_pair();
  const Measured measured = measure(begin, end);
  tell(measured.frequency, kMeasured, measured.uncertainty);
}

void calibrate() {
  if (state.clock == ClockKind::monotonic || state.start_raw_ns == 0) return;
  const Measured measured =
      measure({state.start_ticks, state.start_raw_ns, state.start_bracket}, read_pair());
  if (measured.frequency == 0 || measured.uncertainty >= state.side->frequency_uncertainty) return;
  // Both are right within their uncertainties, unless the counter has stepped since the start.
  const uint64_t told = state.side->frequency;
  const uint64_t apart =
      told < measured.frequency ? measured.frequency - told : told - measured.frequency;
  const uint64_t doubt = 2 * (uint64_t{state.side->frequency_uncertainty} + measured.uncertainty);
  if (static_cast<Wide>(apart) * kSecond > static_cast<Wide>(told) * doubt) return;
  tell(measured.frequency, kMeasured, measured.uncertainty);
}

// Measures again each time the distance from the start has doubled.
void calibrate_now_and_then() {
  if (state.clock == ClockKind::monotonic) return;
  const uint64_t now = read_counter();
  if (now < state.next_calibration) return;
  calibrate();
  state.next_calibration = now + (now - state.start_ticks) / 2 + 1'000'000;
}

bool start_ticking() {
  const sys::BlockSignals blocked;
  __atomic_fetch_add(&state.fork_mark->timers, 1, __ATOMIC_RELAXED);
  if (start_bare_thread(tick)) return true;
  __atomic_fetch_sub(&state.fork_mark->timers, 1, __ATOMIC_RELAXED);
  return false;
}

// The vDSO's clock; libc is only used to find it.
TELLTALE_HOOK uint64_t monotonic_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace telltale::recorder
