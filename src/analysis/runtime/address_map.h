#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace telltale {

// A value for each 64-bit key, usually an address, value-initialised at first access: open
// addressing, so that a lookup is one or two reads. A reference is valid until the next new key.
// Iteration is in insertion order.
template <typename Value>
class AddressMap {
 public:
  struct Item {
    uint64_t key = 0;
    Value value{};
  };

  [[gnu::always_inline]] Value& operator[](uint64_t key) {
    if (!slots_.empty()) [[likely]] {
      for (size_t slot = place_of(key);; slot = (slot + 1) & (slots_.size() - 1)) {
        const uint32_t index = slots_[slot];
        if (index == 0) break;
        if (items_[index - 1].key == key) [[likely]]
          return items_[index - 1].value;
      }
    }
    return add(key);
  }
  [[nodiscard]] const Value* find(uint64_t key) const {
    if (slots_.empty()) return nullptr;
    for (size_t slot = place_of(key);; slot = (slot + 1) & (slots_.size() - 1)) {
      const uint32_t index = slots_[slot];
      if (index == 0) return nullptr;
      if (items_[index - 1].key == key) return &items_[index - 1].value;
    }
  }
  [[nodiscard]] Value* find(uint64_t key) {
    return const_cast<Value*>(std::as_const(*this).find(key));
  }

  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }
  [[nodiscard]] auto begin() { return items_.begin(); }
  [[nodiscard]] auto end() { return items_.end(); }
  void clear() {
    slots_.clear();
    items_.clear();
  }

 private:
  [[nodiscard]] size_t place_of(uint64_t key) const {
    // Fibonacci hashing: the upper bits of the product depend on all bits of the key.
    return static_cast<size_t>((key * 0x9E37'79B9'7F4A'7C15) >> shift_);
  }
  [[gnu::noinline]] Value& add(uint64_t key) {
    if ((items_.size() + 1) * 2 > slots_.size()) grow();
    items_.push_back({key, Value()});
    insert(key, static_cast<uint32_t>(items_.size()));
    return items_.back().value;
  }
  void insert(uint64_t key, uint32_t index) {
    size_t slot = place_of(key);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = index;
  }
  void grow() {
    const size_t size = slots_.empty() ? 64 : slots_.size() * 2;
    slots_.assign(size, 0);
    shift_ = 64;
    for (size_t rest = size; rest > 1; rest /= 2) --shift_;
    for (size_t i = 0; i < items_.size(); ++i) insert(items_[i].key, static_cast<uint32_t>(i + 1));
  }

  std::vector<Item> items_;
  std::vector<uint32_t> slots_;  // 1 + index into items_; 0: free
  unsigned shift_ = 64;
};

// Sums by key, for millions of additions to mostly few keys: recent keys are kept in a small table
// that fits the first-level cache, and are added to a map when others replace them, or by
// flush_to(). Sum: a type with operator+= that is neutral when value-initialised.
template <typename Sum>
class RecentSums {
 public:
  // The sum for `key` since it was last added to the map. Always with the same map, until
  // flush_to().
  [[gnu::always_inline]] Sum& of(uint64_t key, AddressMap<Sum>& map) {
    if (slots_ == nullptr) [[unlikely]]
      slots_ = std::make_unique<Slots>();
    Slot& slot = (*slots_)[place_of(key)];
    if (slot.key != key) [[unlikely]]
      replace(slot, key, map);
    return slot.sum;
  }
  void flush_to(AddressMap<Sum>& map) {
    if (slots_ == nullptr) return;
    for (const Slot& slot : *slots_) put(slot, map);
    slots_.reset();
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr uint64_t kOtherKey = 1;
  struct Slot {
    uint64_t key = 0;
    Sum sum{};
  };
  // A slot is free as long as its key belongs to another one.
  struct Slots : std::array<Slot, size_t{1} << kBits> {
    Slots() { (*this)[place_of(0)].key = kOtherKey; }
  };
  static constexpr size_t place_of(uint64_t key) {
    return static_cast<size_t>((key * 0x9E37'79B9'7F4A'7C15) >> (64 - kBits));
  }
  void put(const Slot& slot, AddressMap<Sum>& map) const {
    if (&(*slots_)[place_of(slot.key)] == &slot) map[slot.key] += slot.sum;
  }
  [[gnu::noinline]] void replace(Slot& slot, uint64_t key, AddressMap<Sum>& map) const {
    put(slot, map);
    slot = {key, Sum()};
  }
  static_assert(place_of(0) != place_of(kOtherKey));

  std::unique_ptr<Slots> slots_;
};

}  // namespace telltale
