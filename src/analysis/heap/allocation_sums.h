#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/runtime/address_map.h"
#include "model/runtime_events.h"

namespace telltale {

// Allocations by type as the recording names it. docs/analysis/mono.md, "alloc". A part: append()
// merges pieces in any order.
class AllocationSums {
 public:
  struct Sum {
    uint64_t objects = 0;
    uint64_t bytes = 0;
    uint64_t largest = 0;
    Sum& operator+=(const Sum& other) {
      objects += other.objects;
      bytes += other.bytes;
      largest = std::max(largest, other.largest);
      return *this;
    }
  };

  [[gnu::always_inline]] void on(const AllocationEvent& event) {
    Sum& sum = recent_.of(to_number(event.type), by_type_);
    ++sum.objects;
    sum.bytes += event.bytes;
    sum.largest = std::max(sum.largest, event.bytes);
  }
  // Call after all events of a piece.
  void end_piece() { recent_.flush_to(by_type_); }
  // REQUIRES: both have ended.
  void append(const AllocationSums& next) {
    for (const auto& [type, theirs] : next.by_type_) by_type_[type] += theirs;
  }

  // REQUIRES: ended. By TypeId's number, in no particular order.
  [[nodiscard]] const AddressMap<Sum>& by_type() const { return by_type_; }

 private:
  AddressMap<Sum> by_type_;
  RecentSums<Sum> recent_;
};

}  // namespace telltale
