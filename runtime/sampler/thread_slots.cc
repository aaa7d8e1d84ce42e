#include "thread_slots.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace telltale::sampler {
namespace {

static_assert(kThreadSlots < 32);

uint32_t taken = 0;  // bit `slot`
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

// This code may be unloaded before threads end.
__attribute__((destructor)) void forget_key() {
  if (has_key) ::pthread_key_delete(key);
  has_key = false;
}

}  // namespace

void use_thread_slots() {
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
  telltale_sampler_slot_r = slot;
}

uint64_t count_in_thread_slots(const SchemeTable& scheme, uint64_t index, bool take) {
  if (scheme.copy_stride == 0) return 0;
  uint64_t* const first = scheme.counters + index;
  const uint64_t stride = scheme.copy_stride;
  uint64_t& reported = first[(kThreadSlots + 1) * stride];
  uint64_t before = __atomic_load_n(&reported, __ATOMIC_ACQUIRE);
  while (true) {
    uint64_t sum = 0;
    for (uint64_t slot = 1; slot <= kThreadSlots; ++slot)
      sum += __atomic_load_n(&first[slot * stride], __ATOMIC_RELAXED);
    // Memory that no thread has written to stays so.
    if (!take || sum == before) return sum - before;
    // Fails if a signal handler or another thread reported meanwhile.
    if (__atomic_compare_exchange_n(&reported, &before, sum, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return sum - before;
  }
}

}  // namespace telltale::sampler

__attribute__((visibility("default"))) thread_local uint64_t telltale_sampler_slot_r = 0;
