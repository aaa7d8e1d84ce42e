#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "analysis/paths/slice_effects.h"

namespace telltale {

// The targets that are looked for, by number, and where the searches for each have been.
class SliceTargets {
 public:
  uint32_t number_of(const SliceTarget& target) {
    const auto [found, is_new] =
        numbers_.try_emplace(target, static_cast<uint32_t>(targets_.size()));
    const uint32_t number = found->second;
    if (is_new) {
      targets_.push_back({.target = target});
      targets_[number].for_callees = number_of(SliceEffects::for_callee(target));
    }
    return number;
  }
  const SliceTarget& operator[](uint32_t number) const { return targets_[number].target; }
  // What it is to the callees of its activation.
  [[nodiscard]] uint32_t for_callees(uint32_t number) const { return targets_[number].for_callees; }

  // Each says whether the searches for the target were not there yet.
  bool add_visit(uint32_t number, size_t visit) { return targets_[number].visits.add(visit); }
  // The ends of activations of a function outside the stack.
  bool add_ends(uint32_t number, uint32_t function) { return targets_[number].ends.add(function); }
  // All visits of an activation at once.
  bool add_all(uint32_t number, uint32_t activation) {
    return targets_[number].all.add(activation);
  }
  // All activations at once.
  bool add_everywhere(uint32_t number) { return targets_[number].everywhere.add(0); }
  // Before the first block of an activation.
  bool add_entry(uint32_t number, uint32_t activation) {
    return targets_[number].entries.add(activation);
  }

 private:
  class Bits {
   public:
    bool add(size_t index) {
      if (index / 64 >= words_.size()) words_.resize(index / 64 + 1);
      uint64_t& word = words_[index / 64];
      const uint64_t bit = uint64_t{1} << index % 64;
      const bool is_new = (word & bit) == 0;
      word |= bit;
      return is_new;
    }

   private:
    std::vector<uint64_t> words_;
  };
  struct Target {
    SliceTarget target;
    uint32_t for_callees = 0;
    Bits visits = {};
    Bits ends = {};
    Bits entries = {};
    Bits all = {};
    Bits everywhere = {};
  };

  std::map<SliceTarget, uint32_t> numbers_;
  std::deque<Target> targets_;
};

}  // namespace telltale
