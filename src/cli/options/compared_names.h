#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "import/recording.h"

namespace telltale::cli {

// Whether two recordings can be compared by names: a side whose program was removed or rebuilt, or
// that lacks the recorder's own list of names, has no names, and everything in it would be new or
// vanished. Recordings of one program that is missing can be compared, because equal functions have
// equal numbers.
class ComparedNames {
 public:
  enum Side : uint8_t { kBefore, kAfter };

  // A recording of this side.
  void add(Side side, const Recording& recording);
  // A function, and which sides have it.
  void add_function(std::string_view name, bool before, bool after);

  // Errors: usage, if most functions of a side have no names; for a gate, if any of them has none,
  // since it could be a function of the other side.
  [[nodiscard]] Result<void> check(bool for_gate) const;

 private:
  struct OneSide {
    std::set<std::string> missing;  // what is said about its programs
    std::string side_record;        // a missing list of names that the recorder wrote; or empty
    size_t functions = 0;
    size_t unnamed = 0;  // those that the other side does not have
  };
  std::array<OneSide, 2> sides_;
};

}  // namespace telltale::cli
