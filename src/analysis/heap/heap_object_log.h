#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/varint.h"
#include "base/zeroed_array.h"
#include "model/runtime_events.h"

namespace telltale {

// The objects of a heap shot with their references, in some 16 bytes an object: numbers are packed
// as differences from the previous ones. Can be replayed in the same order.
class HeapObjectLog {
 public:
  void add(const HeapObjectEvent& event) {
    if (chunks_.empty() || chunks_.back().size() >= kChunkBytes) [[unlikely]]
      start_chunk();
    std::string& to = chunks_.back();
    const uint64_t object = to_number(event.object);
    const uint64_t type = to_number(event.type);
    append_difference(to, object, last_object_);
    append_difference(to, type, last_type_);
    append_varint(to, event.bytes);
    append_varint(to, event.references.size());
    for (const HeapObjectEvent::Reference& reference : event.references) {
      append_varint(to, reference.offset);
      append_difference(to, to_number(reference.object), object);
    }
    last_object_ = object;
    last_type_ = type;
    ++objects_;
    references_ += event.references.size();
  }
  void append(HeapObjectLog&& later) {
    if (later.chunks_.empty()) return;
    for (std::string& chunk : later.chunks_) chunk.shrink_to_fit();
    chunks_.insert(chunks_.end(), std::make_move_iterator(later.chunks_.begin()),
                   std::make_move_iterator(later.chunks_.end()));
    objects_ += later.objects_;
    references_ += later.references_;
    last_object_ = std::exchange(later.last_object_, 0);
    last_type_ = std::exchange(later.last_type_, 0);
    later.chunks_.clear();
    later.objects_ = later.references_ = 0;
  }

  // Recorded objects: one in several pieces counts several times.
  [[nodiscard]] size_t objects() const { return objects_; }
  [[nodiscard]] size_t references() const { return references_; }

  // Calls object(address, type, bytes), then reference(offset, address) for each of its references.
  template <typename Object, typename Reference>
  void for_each(Object object, Reference reference) const {
    for (const std::string& chunk : chunks_) {
      const char* at = chunk.data();
      const char* const end = at + chunk.size();
      uint64_t last_object = 0;
      uint64_t last_type = 0;
      while (at != end) {
        last_object = take_difference(at, last_object);
        last_type = take_difference(at, last_type);
        const uint64_t bytes = take_varint(at);
        object(last_object, last_type, bytes);
        for (uint64_t left = take_varint(at); left != 0; --left) {
          const uint64_t offset = take_varint(at);
          reference(offset, take_difference(at, last_object));
        }
      }
    }
  }

 private:
  static constexpr size_t kChunkBytes = size_t{64} << 10;

  static void append_difference(std::string& to, uint64_t number, uint64_t from) {
    append_varint(to, fold_sign(static_cast<int64_t>(number - from)));
  }
  static uint64_t take_difference(const char*& at, uint64_t from) {
    return from + static_cast<uint64_t>(unfold_sign(take_varint(at)));
  }
  // Differences start anew in each chunk, so that logs can be concatenated.
  void start_chunk() {
    chunks_.emplace_back().reserve(kChunkBytes + 256);
    last_object_ = 0;
    last_type_ = 0;
  }

  std::vector<std::string> chunks_;
  uint64_t last_object_ = 0;
  uint64_t last_type_ = 0;
  size_t objects_ = 0;
  size_t references_ = 0;
};

// Maps each object's address to a number from 1 on, in 18 bytes an object.
class ObjectNumbers {
 public:
  // REQUIRES: at most `objects` addresses get numbers; fewer than 2^31.
  explicit ObjectNumbers(size_t objects) : slots_(objects + objects / 2 + 16) {}

  // The number of an address; 0 if it has none, and then it may be set.
  uint32_t& operator[](uint64_t address) {
    Slot& slot = slots_[find(address)];
    slot.set_address(address);
    return slot.number;
  }
  [[nodiscard]] uint32_t of(uint64_t address) const { return slots_[find(address)].number; }
  // Starts reading the slot of an address, which takes far longer than its lookup.
  void prefetch(uint64_t address) const { __builtin_prefetch(&slots_[place_of(address)]); }

 private:
  // In 12 bytes, so that most lookups touch one cache line.
  struct Slot {
    uint32_t address_low;
    uint32_t address_high;
    uint32_t number;  // 0: free
    [[nodiscard]] uint64_t address() const { return uint64_t{address_high} << 32 | address_low; }
    void set_address(uint64_t address) {
      address_low = static_cast<uint32_t>(address);
      address_high = static_cast<uint32_t>(address >> 32);
    }
  };
  [[nodiscard]] size_t place_of(uint64_t address) const {
    const uint64_t hash = (address * 0x9E37'79B9'7F4A'7C15) >> 32;
    return static_cast<size_t>(hash * slots_.size() >> 32);
  }
  [[nodiscard]] size_t find(uint64_t address) const {
    size_t place = place_of(address);
    while (slots_[place].number != 0 && slots_[place].address() != address)
      place = place + 1 == slots_.size() ? 0 : place + 1;
    return place;
  }
  ZeroedArray<Slot> slots_;
};

// Looks up objects some time after they are asked for, when their slots have arrived from memory.
// `use(uint32_t value, address)` gets them in the order of add().
template <typename Use>
class DelayedLookups {
 public:
  DelayedLookups(const ObjectNumbers& numbers, Use use) : numbers_(numbers), use_(std::move(use)) {}
  void add(uint64_t address, uint32_t value) {
    Asked& slot = asked_[next_++ % kDelay];
    if (next_ > kDelay) use_(slot.value, slot.address);
    slot = {address, value};
    numbers_.prefetch(address);
  }
  // Call at the end.
  void finish() {
    for (size_t i = next_ < kDelay ? 0 : next_ - kDelay; i < next_; ++i)
      use_(asked_[i % kDelay].value, asked_[i % kDelay].address);
    next_ = 0;
  }

 private:
  static constexpr size_t kDelay = 16;
  struct Asked {
    uint64_t address = 0;
    uint32_t value = 0;
  };
  const ObjectNumbers& numbers_;
  Use use_;
  size_t next_ = 0;
  std::array<Asked, kDelay> asked_{};
};

}  // namespace telltale
