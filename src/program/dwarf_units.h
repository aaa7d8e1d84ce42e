#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace telltale {

// The compilation units of a module by address. libdwfl finds them only through .debug_aranges,
// which clang does not emit, so each unit is asked for its ranges.
class DwarfUnits {
 public:
  // Reads the ranges of the module's units, once. REQUIRES: the same module each time.
  void read(Dwfl_Module* module);
  // The unit that contains the code at an address of the process; empty if there is none.
  [[nodiscard]] std::optional<Dwarf_Die> find(Dwarf* dwarf, uint64_t address) const;

 private:
  struct Range {
    uint64_t low = 0;
    uint64_t high = 0;
    Dwarf_Off unit = 0;  // offset of the unit's DIE
  };
  bool read_ = false;
  std::vector<Range> ranges_;
};

}  // namespace telltale
