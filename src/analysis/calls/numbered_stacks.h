#pragma once

#include <cstdint>
#include <vector>

#include "model/runtime_events.h"

namespace telltale {

// What the numbered stacks of a reading became in a table: an Id for each, of which Id{} is that of
// the empty stack. Memory: 4 bytes for each stack of the last reading.
template <typename Id>
class NumberedStacks {
 public:
  // The Id of a stack; calls `intern` for those that were not seen yet.
  template <typename Intern>
  [[gnu::always_inline]] Id of(const RecordedStack& stack, Intern intern) {
    if (stack.number == 0) return intern();
    const uint64_t reading = stack.number >> 32;
    const auto number = static_cast<uint32_t>(stack.number);
    if (reading == reading_ && number < ids_.size() && ids_[number] != Id{}) [[likely]]
      return ids_[number];
    if (reading != reading_) ids_.clear();
    reading_ = reading;
    const Id id = intern();
    if (number >= ids_.size()) ids_.resize(number + size_t{1});
    return ids_[number] = id;
  }

 private:
  uint64_t reading_ = 0;
  std::vector<Id> ids_;
};

}  // namespace telltale
