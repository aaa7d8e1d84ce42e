#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telltale {

// A compilation unit. With -gsplit-dwarf the program has only its skeleton.
struct DwarfUnit {
  Dwarf_Die skeleton;  // has the addresses, the lines and the folder
  Dwarf_Die whole;     // the entry in the .dwo file; the skeleton if there is none
  // The file with the entry, if it was not found or libdw cannot read it, and no skeleton of the
  // module has what is inlined (-fsplit-dwarf-inlining); otherwise empty.
  std::string missing_file;
};

// The compilation units of a module by address. libdwfl finds them only through .debug_aranges,
// which clang does not emit, so each unit is asked for its ranges.
class DwarfUnits {
 public:
  // Reads the ranges of the module's units, once. REQUIRES: the same module each time.
  void read(Dwfl_Module* module);
  // The unit that contains the code at an address of the process; empty if there is none.
  [[nodiscard]] std::optional<DwarfUnit> find(Dwarf* dwarf, uint64_t address) const;

 private:
  struct Range {
    uint64_t low = 0;
    uint64_t high = 0;
    Dwarf_Off unit = 0;  // offset of the unit's DIE
  };
  bool read_ = false;
  bool keeps_inlined_ = false;  // a skeleton has entries
  std::vector<Range> ranges_;
};

}  // namespace telltale
