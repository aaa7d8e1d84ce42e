#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analysis/runtime/runtime_timeline.h"
#include "model/clock.h"

namespace telltale {

// Waits for locks, summed: of a method, of a stack, or of all. docs/analysis/runtime-timeline.md,
// "contention". An unfinished wait counts with length 0.
class WaitSums {
 public:
  void add(const RuntimeTimeline::Wait& wait);

  [[nodiscard]] uint64_t waits() const { return lengths_.size(); }
  uint64_t acquired = 0;
  uint64_t failed = 0;
  uint64_t unfinished = 0;
  Ticks total = 0;
  // The lengths of all waits, in the order in which they were added.
  [[nodiscard]] const std::vector<Ticks>& lengths() const { return lengths_; }
  [[nodiscard]] uint64_t locks() const { return locks_.size(); }      // different ones
  [[nodiscard]] uint64_t threads() const { return threads_.size(); }  // different ones

 private:
  std::vector<Ticks> lengths_;
  std::set<uint64_t> locks_;
  std::set<size_t> threads_;
};

}  // namespace telltale
