#include "program/dwarf_units.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace telltale {
namespace {

const char* split_file_of(Dwarf_Die& skeleton) {
  Dwarf_Attribute attribute;
  const char* const file = dwarf_formstring(dwarf_attr(&skeleton, DW_AT_dwo_name, &attribute));
  if (file != nullptr) return file;
  return dwarf_formstring(dwarf_attr(&skeleton, DW_AT_GNU_dwo_name, &attribute));
}

// libdw looks for .dwo files beside the program and in the folder of the compilation; since 0.191
// also into the program's .dwp file.
DwarfUnit with_split_unit(Dwarf_Die skeleton) {
  DwarfUnit unit{.skeleton = skeleton, .whole = skeleton, .missing_file = {}};
  uint8_t type = 0;
  Dwarf_Die split;
  if (dwarf_cu_info(skeleton.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) != 0 ||
      type != DW_UT_skeleton)
    return unit;
  if (split.cu != nullptr) {
    unit.whole = split;
  } else if (const char* const file = split_file_of(skeleton); file != nullptr) {
    unit.missing_file = file;
  }
  return unit;
}

}  // namespace

void DwarfUnits::read(Dwfl_Module* module) {
  if (read_) return;
  read_ = true;
  Dwarf_Addr bias = 0;
  Dwarf* dwarf = dwfl_module_getdwarf(module, &bias);
  if (dwarf == nullptr) return;
  size_t file_size = 0;
  elf_rawfile(dwarf_getelf(dwarf), &file_size);
  // More ranges than half the file's bytes: units share ranges, which compilers do not emit.
  const uint64_t limit = file_size / 2 + 1000;
  for (Dwarf_Die* unit = dwfl_module_nextcu(module, nullptr, &bias); unit != nullptr;
       unit = dwfl_module_nextcu(module, unit, &bias)) {
    keeps_inlined_ =
        keeps_inlined_ || (dwarf_haschildren(unit) == 1 && split_file_of(*unit) != nullptr);
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    for (ptrdiff_t at = dwarf_ranges(unit, 0, &base, &low, &high); at > 0 && ranges_.size() < limit;
         at = dwarf_ranges(unit, at, &base, &low, &high)) {
      if (low < high) ranges_.push_back({low + bias, high + bias, dwarf_dieoffset(unit)});
    }
  }
  std::ranges::sort(ranges_, [](const Range& a, const Range& b) {
    return std::tuple(a.low, a.high, a.unit) < std::tuple(b.low, b.high, b.unit);
  });
}

std::optional<DwarfUnit> DwarfUnits::find(Dwarf* dwarf, uint64_t address) const {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::low);
  Dwarf_Die unit;
  if (after == ranges_.begin() || address >= (after - 1)->high ||
      dwarf_offdie(dwarf, (after - 1)->unit, &unit) == nullptr)
    return std::nullopt;
  DwarfUnit found = with_split_unit(unit);
  if (keeps_inlined_) found.missing_file.clear();
  return found;
}

}  // namespace telltale
