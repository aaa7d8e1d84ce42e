#pragma once

#include <string.h>

#include "abi.h"

namespace telltale::sampler {

// The counters of pairs of values in single bytes, until a byte would overflow; how they are added
// to the 64-bit counters (docs/design/sampler-compiler.md).

// Adds in one instruction, or atomically, so that a signal handler's increment is not lost. No
// other thread changes the counter.
inline void add_uninterrupted(uint64_t& counter, uint64_t number) {
#ifdef __x86_64__
  asm("addq %1, %0" : "+m"(counter) : "r"(number) : "cc");
#else
  __atomic_fetch_add(&counter, number, __ATOMIC_RELAXED);
#endif
}

// The same if other threads may change the counter.
inline void add_atomically(uint64_t& counter, uint64_t number) {
  __atomic_fetch_add(&counter, number, __ATOMIC_RELAXED);
}

// What is to be added to the counters of a row: less, equal, greater.
struct Tallies {
  uint8_t less;
  uint8_t equal;
  uint8_t greater;
};

// Bytes count down from 0, which takes vector code one instruction less.
//
// Code counts less and greater before it counts that it has observed: if a signal handler asks in
// between, one equal is missing, and there may have been none. The other order would show results
// that never occurred.
inline Tallies tallies_from(uint8_t less, uint8_t greater, uint8_t observed) {
  const auto number = [](uint8_t tally) { return static_cast<uint8_t>(-tally); };
  const int equal = number(observed) - number(less) - number(greater);
  return {number(less), static_cast<uint8_t>(equal > 0 ? equal : 0), number(greater)};
}

// The three bytes in which a block counts the results of a site.
struct TallyBytes {
  uint8_t& less;
  uint8_t& greater;
  uint8_t& observed;
};

inline TallyBytes bytes_of(uint8_t* block, uint64_t site) {
  return {block[site], block[kTallySites + site], block[2 * kTallySites + site]};
}

// Adds the tallies of a block to the counters of its first row, and clears them. A signal handler
// that interrupts this may count in the counters. If it reports and the program ends, the row that
// was being added may have up to 255 too many, never too few.
inline void flush_tallies(uint64_t* counters, uint8_t* block, uint64_t sites,
                          void (*add)(uint64_t&, uint64_t)) {
  for (uint64_t i = 0; i < sites; ++i, counters += kPairCounters) {
    const TallyBytes bytes = bytes_of(block, i);
    const Tallies found = tallies_from(bytes.less, bytes.greater, bytes.observed);
    if (found.less != 0) add(counters[0], found.less);
    if (found.equal != 0) add(counters[1], found.equal);
    if (found.greater != 0) add(counters[2], found.greater);
    // In this order, a handler never finds more equal ones than there were.
    __atomic_store_n(&bytes.observed, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&bytes.less, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&bytes.greater, 0, __ATOMIC_RELEASE);
  }
}

// While it exists, readers in other threads know that a count may be in the tallies and in the
// counters, or in none of them. `state` may be null.
class Flush {
 public:
  explicit Flush(TallyState* state) : state_(state) {
    if (state_ == nullptr) return;
    // It is odd already if a signal handler left an earlier one by longjmp.
    begun_ = state_->flushes | 1U;
    __atomic_store_n(&state_->flushes, begun_, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
  }
  Flush(const Flush&) = delete;
  Flush& operator=(const Flush&) = delete;
  ~Flush() {
    if (state_ != nullptr) __atomic_store_n(&state_->flushes, begun_ + 1, __ATOMIC_RELEASE);
  }

 private:
  TallyState* state_;
  uint32_t begun_ = 0;
};

// The copy of the tallies that thread `slot` has, and its state.
inline uint8_t* tallies_of_slot(const SchemeTable& scheme, uint64_t slot) {
  return scheme.tallies + (slot - 1) * scheme.tally_stride;
}
inline TallyState& tally_state_of_slot(const SchemeTable& scheme, uint64_t slot) {
  return *reinterpret_cast<TallyState*>(tallies_of_slot(scheme, slot) + scheme.tally_stride -
                                        kTallyBytes);
}

// Adds the tallies of a site to `sums`, which has its three counters. Unless `take` clears them,
// they stay there: if a signal handler reports, the code that it interrupted may write back what it
// has read.
inline void add_tallies(uint8_t* block, uint32_t site, bool take, uint64_t* sums) {
  const auto value = [take](uint8_t& tally) {
    const uint8_t now = __atomic_load_n(&tally, __ATOMIC_RELAXED);
    return take && now != 0 ? __atomic_exchange_n(&tally, uint8_t{0}, __ATOMIC_RELAXED) : now;
  };
  const TallyBytes bytes = bytes_of(block, site);
  // First, so that no other thread seems to have found more equal ones than it did.
  const uint8_t observed = value(bytes.observed);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  const uint8_t less = value(bytes.less);
  const uint8_t greater = value(bytes.greater);
  const Tallies found = tallies_from(less, greater, observed);
  sums[0] += found.less;
  sums[1] += found.equal;
  sums[2] += found.greater;
}

// Clears all tallies, unless threads have their own: only a thread itself may change its tallies.
inline void clear_tallies(const SchemeTable& scheme) {
  if (scheme.tallies == nullptr || scheme.tally_stride != 0) return;
  ::memset(scheme.tallies, 0, uint64_t{kTallyBytes} * scheme.blocks * scheme.banks);
}

}  // namespace telltale::sampler
