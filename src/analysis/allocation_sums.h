#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/address_map.h"
#include "model/runtime_events.h"

namespace telltale {

// What was allocated, by type as the recording names it. docs/analysis/mono.md, "alloc". A part:
// append() puts pieces together in any order.
class AllocationSums {
 public:
  struct Sum {
    uint64_t objects = 0;
    uint64_t bytes = 0;
    uint64_t largest = 0;
  };

  void on(const AllocationEvent& event) {
    Sum& sum = by_type_[to_number(event.type)];
    ++sum.objects;
    sum.bytes += event.bytes;
    sum.largest = std::max(sum.largest, event.bytes);
  }
  void append(const AllocationSums& next) {
    for (const auto& [type, theirs] : next.by_type_) {
      Sum& sum = by_type_[type];
      sum.objects += theirs.objects;
      sum.bytes += theirs.bytes;
      sum.largest = std::max(sum.largest, theirs.largest);
    }
  }

  // By TypeId's number, in no order that means anything.
  [[nodiscard]] const AddressMap<Sum>& by_type() const { return by_type_; }

 private:
  AddressMap<Sum> by_type_;
};

}  // namespace telltale
