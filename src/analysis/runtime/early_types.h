#pragma once

#include <cstdint>

#include "analysis/runtime/address_map.h"
#include "model/runtime_events.h"

namespace telltale {

// The vtables that are used (by an allocation, or an object of a heap shot) before the event that
// names them, in file order. mprof-report never resolves them. docs/analysis/mono.md, "types". A
// part: append() merges pieces in any order.
class EarlyTypes {
 public:
  void on(const PieceEvent& event) { place_ = event.offset; }
  void on(const AllocationEvent& event) { use(to_number(event.type)); }
  void on(const HeapObjectEvent& event) { use(to_number(event.type)); }
  void on(const LoadEvent& event) {
    if (event.kind != LoadEvent::Kind::type_in_domain) return;
    note(types_[event.id], /*used=*/false, place_);
  }
  void append(const EarlyTypes& next) {
    for (const auto& [id, theirs] : next.types_) note(types_[id], theirs.used_first, theirs.place);
  }

  [[nodiscard]] bool used_early(uint64_t id) const {
    const First* first = types_.find(id);
    return first != nullptr && first->used_first;
  }

 private:
  struct First {
    bool known = false;
    bool used_first = false;  // otherwise it was named first
    uint64_t place = 0;       // of the piece with that event
  };
  void use(uint64_t id) { note(types_[id], /*used=*/true, place_); }
  static void note(First& first, bool used, uint64_t place) {
    if (first.known && first.place <= place) return;
    first = {true, used, place};
  }

  uint64_t place_ = 0;
  AddressMap<First> types_;
};

}  // namespace telltale
