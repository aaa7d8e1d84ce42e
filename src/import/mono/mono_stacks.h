#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bytes/leb_word.h"
#include "formats/mono/skim_run.h"
#include "import/mono/mono_methods.h"
#include "model/events.h"
#include "model/runtime_events.h"

namespace telltale {

// The stacks of one file's allocations, decoded once: programs allocate at few places again and
// again. Memory: the distinct stacks. The file's bytes must outlive this.
class MonoStacks {
 public:
  // `address_mask`: of the file's pointers (BufferBases).
  MonoStacks(const MonoMethods& methods, uint64_t address_mask)
      : methods_(methods), address_mask_(address_mask) {}

  struct Found {
    RecordedStack stack;  // valid until the next call of find()
    uint64_t steps = 0;   // the sum of the encoded stack's steps
  };
  [[gnu::always_inline]] Found find(const mono::EncodedStack& stack) {
    if (slots_.empty()) [[unlikely]]
      grow();
    const uint64_t hash = hash_of(stack);
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.number == kNone) return add(stack, hash);
      if (slot.hash == hash && is_equal(known_[slot.number].encoded, stack)) [[likely]]
        return found(slot.number);
    }
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Slot {
    uint64_t hash = 0;
    uint32_t number = kNone;  // index into known_
  };
  struct Known {
    mono::EncodedStack encoded;  // where it was seen first
    uint64_t steps = 0;
    size_t functions = 0;  // index of the first one in functions_
  };

  [[gnu::always_inline]] static uint64_t hash_of(const mono::EncodedStack& stack) {
    constexpr size_t kWord = sizeof(uint64_t);
    constexpr uint64_t kFactor = 0x9E37'79B9'7F4A'7C15;
    uint64_t hash = stack.first + stack.methods;
    const auto mix = [&hash](uint64_t word) {
      hash = (hash ^ word) * kFactor;
      hash ^= hash >> 32;
    };
    const uint8_t* at = stack.begin;
    auto left = static_cast<size_t>(stack.end - at);
    for (; left >= kWord; at += kWord, left -= kWord) mix(leb_word(at));
    if (left == 0) return hash;
    uint64_t rest = 0;
    std::memcpy(&rest, at, left);
    mix(rest);
    return hash;
  }
  static bool is_equal(const mono::EncodedStack& one, const mono::EncodedStack& other) {
    const auto bytes = one.end - one.begin;
    return one.first == other.first && one.methods == other.methods &&
           bytes == other.end - other.begin &&
           (bytes == 0 || std::memcmp(one.begin, other.begin, static_cast<size_t>(bytes)) == 0);
  }
  [[gnu::always_inline]] [[nodiscard]] Found found(uint32_t number) const {
    const Known& known = known_[number];
    return {{true, {functions_.data() + known.functions, known.encoded.methods}, reading_ | number},
            known.steps};
  }
  [[gnu::noinline]] Found add(const mono::EncodedStack& stack, uint64_t hash);
  void insert(const Slot& slot);
  void grow();

  const MonoMethods& methods_;
  uint64_t address_mask_;
  uint64_t reading_ = 0;  // the upper half of RecordedStack::number
  std::vector<Slot> slots_;
  std::vector<Known> known_;
  std::vector<FunctionId> functions_;
};

}  // namespace telltale
