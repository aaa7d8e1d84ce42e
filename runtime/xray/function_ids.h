#pragma once

// Which number a function has that is known by address only (-finstrument-functions). Lock-free and
// async-signal-safe: a handler that interrupts assign() may call it itself, for the same function
// too. No destructor, and all zeros at first.

#include <stddef.h>
#include <stdint.h>

#include "syscalls.h"

namespace telltale::recorder {

class FunctionIds {
 public:
  static constexpr uint32_t kUnknown = 0;
  // Of a function that is not to be recorded.
  static constexpr uint32_t kSkipped = 0xFFFF'FFFF;

  // Gets memory for the table, if it has none: 16 MiB of address space, of which only what is used
  // is touched, page by page as the code it stands for. False when there is none; then every
  // function is unknown and stays so. Not from two threads at once.
  bool reserve() {
    if (slots_ != nullptr) return true;
    auto* const slots = static_cast<Slot*>(sys::map_private(kSlots * sizeof(Slot)));
    __atomic_store_n(&slots_, slots, __ATOMIC_RELEASE);
    return slots != nullptr;
  }

  // The number of the function at `address`, kSkipped or kUnknown. A few instructions.
  // REQUIRES: reserve() has found memory.
  [[nodiscard]] __attribute__((always_inline)) uint32_t find(uint64_t address) const {
    const Slot& slot = __atomic_load_n(&slots_, __ATOMIC_RELAXED)[first_slot(address)];
    if (__builtin_expect(__atomic_load_n(&slot.address, __ATOMIC_RELAXED) == address, 1))
      return __atomic_load_n(&slot.id, __ATOMIC_ACQUIRE);
    return find_beyond(address);
  }
  // The number of the function at `address`; what `make()` gives when it has none. Two threads that
  // are here at once may both make a number; one is used and the other never occurs. kUnknown when
  // the table is full.
  template <typename Make>
  uint32_t assign(uint64_t address, Make make) {
    Slot* const slot = claim(address);
    if (slot == nullptr) return kUnknown;
    uint32_t id = __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE);
    if (id != kUnknown) return id;
    const uint32_t fresh = make();
    return __atomic_compare_exchange_n(&slot->id, &id, fresh, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE)
               ? fresh
               : id;
  }

  // Functions in [begin, end) get new numbers when they are called next: the code there is gone.
  void forget(uint64_t begin, uint64_t end) {
    if (slots_ == nullptr || begin >= end) return;
    // Every slot that an address of the range can have; the whole table when that is shorter.
    const size_t span = ((end - begin) >> kGrain) + 2 + kMaxTries;
    const size_t count = span < kSlots ? span : kSlots;
    for (size_t i = 0; i < count; ++i) {
      Slot& slot = slots_[(first_slot(begin) + i) & (kSlots - 1)];
      const uint64_t address = __atomic_load_n(&slot.address, __ATOMIC_RELAXED);
      if (address >= begin && address < end) __atomic_store_n(&slot.id, kUnknown, __ATOMIC_RELEASE);
    }
  }

 private:
  struct Slot {
    uint64_t address;  // 0: free; never changes afterwards
    uint32_t id;
  };
  static constexpr size_t kSlots = size_t{1} << 20;
  static constexpr size_t kMaxTries = 256;
  // Functions stand at multiples of 16 as a rule, so neighbours in the code are neighbours here.
  static constexpr unsigned kGrain = 4;

  __attribute__((noinline)) uint32_t find_beyond(uint64_t address) const {
    for (size_t at = first_slot(address), tries = 0; tries < kMaxTries; ++at, ++tries) {
      const Slot& slot = slots_[at & (kSlots - 1)];
      const uint64_t found = __atomic_load_n(&slot.address, __ATOMIC_RELAXED);
      if (found == address) return __atomic_load_n(&slot.id, __ATOMIC_ACQUIRE);
      if (found == 0) return kUnknown;
    }
    return kUnknown;
  }

  static size_t first_slot(uint64_t address) { return (address >> kGrain) & (kSlots - 1); }

  // The slot of `address`, taken now if it was not before; null when there is no room near.
  Slot* claim(uint64_t address) {
    Slot* const slots = __atomic_load_n(&slots_, __ATOMIC_RELAXED);
    if (slots == nullptr) return nullptr;
    for (size_t at = first_slot(address), tries = 0; tries < kMaxTries; ++at, ++tries) {
      Slot& slot = slots[at & (kSlots - 1)];
      uint64_t found = 0;
      if (__atomic_compare_exchange_n(&slot.address, &found, address, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED) ||
          found == address) {
        return &slot;
      }
    }
    return nullptr;
  }

  Slot* slots_;
};

}  // namespace telltale::recorder
