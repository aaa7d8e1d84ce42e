#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "program/dwarf_units.h"

namespace telltale {

// The functions of compilation units by address, also those that are defined inside a namespace or
// a class: dwarf_getscopes() does not descend into these, since they have no addresses.
class DwarfFunctions {
 public:
  // The function at a link-time address of the unit, after what is inlined there: the innermost
  // first. Lexical blocks are left out. Empty if there is none.
  std::vector<Dwarf_Die> find(const DwarfUnit& unit, uint64_t address);

 private:
  struct Range {
    uint64_t low = 0;
    uint64_t high = 0;
    Dwarf_Off function = 0;  // offset of its DIE
  };
  using Ranges = std::vector<Range>;
  // Budget: entries that may still be visited, so that damaged trees end.
  static void add_functions(Dwarf_Die parent, size_t depth, uint64_t& budget, Ranges& found);
  static void add_scopes(Dwarf_Die parent, uint64_t address, size_t depth, uint64_t& budget,
                         std::vector<Dwarf_Die>& found);

  std::unordered_map<Dwarf_Off, Ranges> units_;  // by skeleton; sorted by `low`
};

}  // namespace telltale
