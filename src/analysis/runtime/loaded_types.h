#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/runtime/address_map.h"
#include "model/runtime_events.h"

namespace telltale {

// The meaning of TypeIds, according to the events so far: classes by address, and the vtables that
// represent a class in one domain. An id may be used before it is named, so query at the end.
// docs/analysis/mono.md, "types". A part: append() merges pieces in any order.
class LoadedTypes {
 public:
  struct Type {
    uint64_t type = 0;      // the class's own id; 0: the class is not recorded
    std::string_view name;  // empty: not recorded; valid as long as this object does not change
    uint64_t domain = 0;    // of a vtable
  };

  explicit LoadedTypes(bool first_wins = false) : first_wins_(first_wins) {}

  void on(const PieceEvent& event) {
    place_ = event.offset;
    address_bits_ = event.address_bits;
  }
  void on(const LoadEvent& event);
  void append(LoadedTypes&& next);

  // What the recording says of a type. If an id has several meanings, the last one in the file
  // counts, or with `first_wins` the first.
  [[nodiscard]] Type describe(uint64_t id) const;
  // describe(id).type, in less time.
  [[nodiscard]] uint64_t class_of(uint64_t id) const {
    if (const Vtable* vtable = vtables_.find(id)) return vtable->type;
    return classes_.find(id) != nullptr ? id : 0;
  }
  // Its name; "#0x..." with its address in the process if that is not recorded.
  [[nodiscard]] std::string name_or_address(uint64_t id) const;
  // Name of a class by its own id; empty if not recorded. An address may have been a class and then
  // a vtable, or the other way round.
  [[nodiscard]] std::string_view class_name(uint64_t type) const {
    const Class* known = classes_.find(type);
    return known == nullptr ? std::string_view() : known->name;
  }

 private:
  struct Class {
    bool known = false;
    uint64_t place = 0;
    std::string name;
  };
  struct Vtable {
    bool known = false;
    uint64_t place = 0;
    uint64_t type = 0;
    uint64_t domain = 0;
  };
  // Stores a meaning if it is the one that counts.
  template <typename Meaning>
  void learn(Meaning& known, Meaning&& other) const {
    const bool earlier = other.place < known.place;
    if (!known.known || (first_wins_ ? earlier : !earlier)) known = std::forward<Meaning>(other);
  }

  bool first_wins_;
  uint64_t place_ = 0;
  unsigned address_bits_ = 64;  // as in PieceEvent
  AddressMap<Class> classes_;
  AddressMap<Vtable> vtables_;
};

}  // namespace telltale
