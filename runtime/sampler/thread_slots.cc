#include "thread_slots.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/sampler/wire.h"
#include "tallies.h"

namespace telltale::sampler {
namespace {

static_assert(kThreadSlots < 32);

uint32_t taken = 0;  // bit `slot`
uint32_t used = 0;   // all that ever were
pthread_key_t key;
bool has_key = false;

// The thread may count after this, in destructors of other variables.
void release(void*) {
  const auto slot = static_cast<uint32_t>(telltale_sampler_slot_r);
  telltale_sampler_slot_r = 0;
  // Whoever gets the slot next sees all counts.
  __atomic_fetch_and(&taken, ~(uint32_t{1} << slot), __ATOMIC_RELEASE);
}

void keep_own_slot_in_child() {
  taken = telltale_sampler_slot_r == 0 ? 0 : uint32_t{1} << telltale_sampler_slot_r;
}

// The flush that each slot's thread did not end while a report waited for it: a signal handler is
// the one that reports, or has left it.
struct UnendedFlush {
  const TallyState* state;
  uint32_t flushes;
};
UnendedFlush unended[kThreadSlots + 1] = {};

// Waits until the thread does not flush, but not for long. Returns its number of flushes.
uint32_t wait_for_flush(const TallyState& state, uint64_t slot) {
  constexpr int kYields = 20;
  constexpr int kMilliseconds = 50;
  uint32_t flushes = 0;
  for (int i = 0; i < kYields + kMilliseconds; ++i) {
    flushes = __atomic_load_n(&state.flushes, __ATOMIC_ACQUIRE);
    if ((flushes & 1) == 0 ||
        (__atomic_load_n(&unended[slot].state, __ATOMIC_RELAXED) == &state &&
         __atomic_load_n(&unended[slot].flushes, __ATOMIC_RELAXED) == flushes))
      return flushes;
    // The thread may have been suspended. A yield gives others no time if they are on another
    // processor.
    constexpr timespec kMillisecond = {0, 1'000'000};
    if (i < kYields) {
      ::sched_yield();
    } else {
      ::nanosleep(&kMillisecond, nullptr);
    }
  }
  __atomic_store_n(&unended[slot].state, &state, __ATOMIC_RELAXED);
  __atomic_store_n(&unended[slot].flushes, flushes, __ATOMIC_RELAXED);
  return flushes;
}

template <typename Visit>
void for_each_slot(uint32_t slots, const Visit& visit) {
  for (; slots != 0; slots &= slots - 1) visit(static_cast<uint64_t>(__builtin_ctz(slots)));
}

// The number of flushes of all threads.
uint64_t wait_for_flushes(const SchemeTable& scheme, uint32_t slots) {
  uint64_t flushes = 0;
  if (scheme.tally_stride == 0) return flushes;
  for_each_slot(slots, [&](uint64_t slot) {
    flushes += wait_for_flush(tally_state_of_slot(scheme, slot), slot);
  });
  return flushes;
}

uint64_t flushes_by_now(const SchemeTable& scheme, uint32_t slots) {
  uint64_t flushes = 0;
  if (scheme.tally_stride == 0) return flushes;
  for_each_slot(slots, [&](uint64_t slot) {
    flushes += __atomic_load_n(&tally_state_of_slot(scheme, slot).flushes, __ATOMIC_RELAXED);
  });
  return flushes;
}

// The numbers of a site in the copies of these slots and in the first copy.
void add_copies(const RowCursor& row, uint32_t slots, uint64_t* sums) {
  const SchemeTable& scheme = row.scheme();
  const uint64_t* const first = row.counters();
  for (uint32_t i = 0; i < scheme.arity; ++i)
    sums[i] = __atomic_load_n(&first[i], __ATOMIC_RELAXED);
  if (scheme.copy_stride != 0) {
    for_each_slot(slots, [&](uint64_t slot) {
      for (uint32_t i = 0; i < scheme.arity; ++i)
        sums[i] += __atomic_load_n(&first[slot * scheme.copy_stride + i], __ATOMIC_RELAXED);
    });
  }
  if (scheme.tally_stride == 0) return;
  row.visit_tallies([&](uint64_t place, uint32_t site) {
    for_each_slot(slots, [&](uint64_t slot) {
      add_tallies(tallies_of_slot(scheme, slot) + place, site, false, sums);
    });
  });
}

// The same while no thread adds tallies to counters.
void add_consistent_copies(const RowCursor& row, uint32_t slots, uint64_t* sums) {
  const SchemeTable& scheme = row.scheme();
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t flushes = wait_for_flushes(scheme, slots);
    add_copies(row, slots, sums);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (flushes_by_now(scheme, slots) == flushes) break;
  }
}

// What was reported of a site's counters.
uint64_t* reported_counts(const RowCursor& row) {
  const SchemeTable& scheme = row.scheme();
  return row.counters() + (scheme.copy_stride != 0
                               ? uint64_t{kThreadSlots + 1} * scheme.copy_stride
                               : uint64_t{scheme.rows} * scheme.arity * scheme.banks);
}

// This code may be unloaded before threads end.
__attribute__((destructor)) void forget_key() {
  if (has_key) ::pthread_key_delete(key);
  has_key = false;
}

}  // namespace

void use_thread_slots(UnitDescriptor& unit) {
  unit.used_slots = &used;
  static bool begun = false;
  if (begun) return;
  begun = true;
  has_key = ::pthread_key_create(&key, release) == 0;
  ::pthread_atfork(nullptr, nullptr, keep_own_slot_in_child);
  // Another thread may be loading this module; its end might not be noticed.
  if (::syscall(SYS_gettid) == ::getpid()) claim_thread_slot();
}

void claim_thread_slot() {
  if (!has_key || telltale_sampler_slot_r != 0) return;
  uint32_t seen = __atomic_load_n(&taken, __ATOMIC_RELAXED);
  uint32_t slot = 0;
  do {
    slot = 1;
    while (slot <= kThreadSlots && (seen >> slot & 1) != 0) ++slot;
    if (slot > kThreadSlots) return;
  } while (!__atomic_compare_exchange_n(&taken, &seen, seen | uint32_t{1} << slot, true,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
  if (::pthread_setspecific(key, &key) != 0) {
    __atomic_fetch_and(&taken, ~(uint32_t{1} << slot), __ATOMIC_RELEASE);
    return;
  }
  __atomic_fetch_or(&used, uint32_t{1} << slot, __ATOMIC_RELEASE);
  telltale_sampler_slot_r = slot;
}

void count_in_thread_slots(const RowCursor& row, uint32_t slots, bool take, uint64_t* numbers) {
  const SchemeTable& scheme = row.scheme();
  uint64_t* const reported = reported_counts(row);
  uint64_t before[kMaxCounters];
  for (uint32_t i = 0; i < scheme.arity; ++i)
    before[i] = __atomic_load_n(&reported[i], __ATOMIC_ACQUIRE);
  uint64_t sums[kMaxCounters] = {};
  add_consistent_copies(row, slots, sums);
  for (uint32_t i = 0; i < scheme.arity; ++i) {
    // A count may be too small, because observations go on while it is read, or too large, if a
    // thread does not end its flush. Later reports make up for it, so what was reported never
    // falls. The exchange fails, and changes before[i], if a signal handler or another thread
    // reported meanwhile.
    while (take && sums[i] > before[i] &&
           !__atomic_compare_exchange_n(&reported[i], &before[i], sums[i], false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
      add_consistent_copies(row, slots, sums);
    numbers[i] = sums[i] > before[i] ? sums[i] - before[i] : 0;
  }
}

void reset_thread_slots(const SchemeTable& scheme, uint32_t slots) {
  for (uint32_t bank = 0; bank < scheme.banks; ++bank) {
    for (RowCursor row(scheme, bank); !row.is_end(); row.next()) {
      uint64_t sums[kMaxCounters] = {};
      add_consistent_copies(row, slots, sums);
      uint64_t* const reported = reported_counts(row);
      for (uint32_t i = 0; i < scheme.arity; ++i) {
        // Memory that no thread has written to stays so.
        if (__atomic_load_n(&reported[i], __ATOMIC_RELAXED) != sums[i])
          __atomic_store_n(&reported[i], sums[i], __ATOMIC_RELEASE);
      }
    }
  }
}

void forget_tallies_of_threads(const SchemeTable& scheme, uint32_t slots) {
  if (scheme.tally_stride == 0) return;
  for_each_slot(slots, [&](uint64_t slot) {
    ::memset(tallies_of_slot(scheme, slot), 0, scheme.tally_stride - kTallyBytes);
    tally_state_of_slot(scheme, slot).flushes = 0;
  });
}

}  // namespace telltale::sampler

__attribute__((visibility("default"))) thread_local uint64_t telltale_sampler_slot_r = 0;
