#pragma once

// Maps the addresses of functions to ids (-finstrument-functions). Lock-free and async-signal-safe:
// a handler that interrupts assign() may call it itself, for the same function too. No destructor;
// initially all zeros.

#include <stddef.h>
#include <stdint.h>

#include "syscalls.h"

namespace telltale::recorder {

class FunctionIds {
 public:
  static constexpr uint32_t kUnknown = 0;
  // The id of every function that is not to be recorded.
  static constexpr uint32_t kSkipped = 0xFFFF'FFFF;

  // Reserves memory for the table, if it has none: 16 MiB of address space, of which only used
  // pages are touched, as the code's are. False: no memory; then every function stays unknown. Not
  // from two threads at once.
  bool reserve() {
    if (slots_ != nullptr) return true;
    auto* const slots = static_cast<Slot*>(sys::map_private(kSlots * sizeof(Slot)));
    __atomic_store_n(&slots_, slots, __ATOMIC_RELEASE);
    return slots != nullptr;
  }

  // The id of the function at `address`, kSkipped or kUnknown. A few instructions. REQUIRES:
  // reserve() has found memory.
  [[nodiscard]] __attribute__((always_inline)) uint32_t find(uint64_t address) const {
    uint32_t times_16 = 0;
    return __builtin_expect(find_first(address, times_16), 1) ? times_16 >> 4
                                                              : find_beyond(address);
  }
  // 16 times the id of the function at `address`. False: it has none, is skipped, or is not in the
  // first slot where it could be. Even fewer instructions.
  [[nodiscard]] __attribute__((always_inline)) bool find_first(uint64_t address,
                                                               uint32_t& times_16) const {
    // Plain loads, in this order on this processor: atomic ones are not folded into the compare.
    const Slot& slot = slots_[first_slot(address)];
    if (__builtin_expect(slot.key != address, 0)) return false;
    asm volatile("" : : : "memory");
    times_16 = slot.times_16;
    return true;
  }
  // The id of the function at `address`, or a new one from `make()`, at most 2^28-1. Two threads at
  // once may both make an id; one is used and the other never occurs. kUnknown if the table is
  // full.
  template <typename Make>
  uint32_t assign(uint64_t address, Make make) {
    Slot* const slot = claim(address);
    if (slot == nullptr) return kUnknown;
    uint32_t kept = __atomic_load_n(&slot->times_16, __ATOMIC_ACQUIRE);
    if ((__atomic_load_n(&slot->key, __ATOMIC_RELAXED) & kLeftOut) != 0) return kSkipped;
    if (kept != 0) return id_of(kept);
    const uint32_t fresh = make();
    const uint32_t keep = fresh == kSkipped ? kSkippedTimes16 : fresh << 4;
    if (!__atomic_compare_exchange_n(&slot->times_16, &kept, keep, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
      return id_of(kept);
    }
    if (fresh != kSkipped && fresh != kUnknown)
      __atomic_store_n(&slot->key, address, __ATOMIC_RELEASE);
    return fresh;
  }

  // Functions in [begin, end) get new ids at their next call: their code was unloaded.
  void forget(uint64_t begin, uint64_t end) {
    for_each_slot(begin, end, [](Slot& slot, uint64_t address) {
      __atomic_store_n(&slot.key, address | kNotNumbered, __ATOMIC_RELAXED);
      __atomic_store_n(&slot.times_16, 0, __ATOMIC_RELEASE);
    });
  }

  // Decides anew whether the function at `address` is skipped. One that has an id keeps it, so that
  // a call that looks the function up meanwhile gets this id and no other. Of an address without a
  // place in the table, the next call decides, unless it is skipped and `claims`. Not from two
  // threads at once.
  void choose(uint64_t address, bool chosen, bool claims) {
    Slot* const slot = claims && !chosen ? claim(address) : known(address);
    if (slot != nullptr) choose_slot(*slot, address, chosen);
  }
  // The same for all functions in [begin, end) that have a place in the table.
  void choose_all(uint64_t begin, uint64_t end, bool chosen) {
    for_each_slot(begin, end,
                  [chosen](Slot& slot, uint64_t address) { choose_slot(slot, address, chosen); });
  }

 private:
  struct Slot {
    uint64_t key;       // an address, with a mark while calls are not recorded; 0: free
    uint32_t times_16;  // the id as records contain it; 0: none yet
  };
  static constexpr uint64_t kNotNumbered = uint64_t{1} << 63;  // it has no id
  static constexpr uint64_t kLeftOut = uint64_t{1} << 62;      // it has one, but is skipped now
  static constexpr uint64_t kMarks = kNotNumbered | kLeftOut;
  static constexpr uint32_t kSkippedTimes16 = 1;
  static constexpr size_t kSlots = size_t{1} << 20;
  static constexpr size_t kMaxTries = 256;
  // Functions are usually aligned to 16 bytes, so neighbours in the code are neighbours here.
  static constexpr unsigned kGrain = 4;

  static uint32_t id_of(uint32_t kept) { return kept == kSkippedTimes16 ? kSkipped : kept >> 4; }

  __attribute__((noinline)) uint32_t find_beyond(uint64_t address) const {
    for (size_t at = first_slot(address), tries = 0; tries < kMaxTries; ++at, ++tries) {
      const Slot& slot = slots_[at & (kSlots - 1)];
      const uint64_t found = __atomic_load_n(&slot.key, __ATOMIC_RELAXED);
      if ((found & ~kMarks) == address) {
        if ((found & kLeftOut) != 0) return kSkipped;
        return id_of(__atomic_load_n(&slot.times_16, __ATOMIC_ACQUIRE));
      }
      if (found == 0) return kUnknown;
    }
    return kUnknown;
  }

  static size_t first_slot(uint64_t address) { return (address >> kGrain) & (kSlots - 1); }

  // The slot of `address`, claimed now if it was not before; null if there is no free one nearby.
  Slot* claim(uint64_t address) {
    Slot* const slots = __atomic_load_n(&slots_, __ATOMIC_RELAXED);
    if (slots == nullptr) return nullptr;
    for (size_t at = first_slot(address), tries = 0; tries < kMaxTries; ++at, ++tries) {
      Slot& slot = slots[at & (kSlots - 1)];
      uint64_t found = 0;
      if (__atomic_compare_exchange_n(&slot.key, &found, address | kNotNumbered, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
          (found & ~kMarks) == address) {
        return &slot;
      }
    }
    return nullptr;
  }

  Slot* known(uint64_t address) const {
    if (slots_ == nullptr) return nullptr;
    for (size_t at = first_slot(address), tries = 0; tries < kMaxTries; ++at, ++tries) {
      Slot& slot = slots_[at & (kSlots - 1)];
      const uint64_t found = __atomic_load_n(&slot.key, __ATOMIC_RELAXED);
      if ((found & ~kMarks) == address) return &slot;
      if (found == 0) return nullptr;
    }
    return nullptr;
  }

  static void choose_slot(Slot& slot, uint64_t address, bool chosen) {
    const uint32_t kept = __atomic_load_n(&slot.times_16, __ATOMIC_ACQUIRE);
    if (kept != 0 && kept != kSkippedTimes16) {
      __atomic_store_n(&slot.key, chosen ? address : address | kLeftOut, __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(&slot.times_16, chosen ? 0 : kSkippedTimes16, __ATOMIC_RELEASE);
    }
  }

  // Calls use(slot, address) for the addresses in [begin, end) that have a slot.
  template <typename Use>
  void for_each_slot(uint64_t begin, uint64_t end, Use use) {
    if (slots_ == nullptr || begin >= end) return;
    // Every slot that an address of the range can have; the whole table if that is shorter.
    const size_t span = ((end - begin) >> kGrain) + 2 + kMaxTries;
    const size_t count = span < kSlots ? span : kSlots;
    for (size_t i = 0; i < count; ++i) {
      Slot& slot = slots_[(first_slot(begin) + i) & (kSlots - 1)];
      const uint64_t address = __atomic_load_n(&slot.key, __ATOMIC_RELAXED) & ~kMarks;
      if (address >= begin && address < end && address != 0) use(slot, address);
    }
  }

  Slot* slots_;
};

}  // namespace telltale::recorder
