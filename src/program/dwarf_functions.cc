#include "program/dwarf_functions.h"

#include <dwarf.h>
#include <libelf.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace telltale {
namespace {

constexpr size_t kMostDepth = 64;  // of nested namespaces, classes and blocks

// More entries than half the file's bytes do not fit into it.
uint64_t most_entries(Dwarf* dwarf) {
  size_t file_size = 0;
  elf_rawfile(dwarf_getelf(dwarf), &file_size);
  return file_size / 2 + 1000;
}

bool contains_functions(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<Dwarf_Die> DwarfFunctions::find(const DwarfUnit& unit, uint64_t address) {
  Dwarf* const dwarf = dwarf_cu_getdwarf(unit.whole.cu);
  uint64_t budget = most_entries(dwarf);
  Dwarf_Die skeleton = unit.skeleton;
  const auto [entry, is_new] = units_.try_emplace(dwarf_dieoffset(&skeleton));
  Ranges& ranges = entry->second;
  if (is_new) {
    add_functions(unit.whole, 0, budget, ranges);
    std::ranges::sort(ranges, [](const Range& a, const Range& b) {
      return std::tuple(a.low, a.high, a.function) < std::tuple(b.low, b.high, b.function);
    });
  }
  const auto after = std::ranges::upper_bound(ranges, address, {}, &Range::low);
  std::vector<Dwarf_Die> functions;
  Dwarf_Die function;
  if (after == ranges.begin() || address >= (after - 1)->high ||
      dwarf_offdie(dwarf, (after - 1)->function, &function) == nullptr)
    return functions;
  add_scopes(function, address, 0, budget, functions);
  functions.push_back(function);
  return functions;
}

void DwarfFunctions::add_functions(Dwarf_Die parent, size_t depth, uint64_t& budget,
                                   Ranges& found) {
  Dwarf_Die child;
  if (depth == kMostDepth || dwarf_child(&parent, &child) != 0) return;
  do {
    if (budget == 0) return;
    --budget;
    const int tag = dwarf_tag(&child);
    if (contains_functions(tag)) add_functions(child, depth + 1, budget, found);
    if (tag != DW_TAG_subprogram) continue;
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    for (ptrdiff_t at = dwarf_ranges(&child, 0, &base, &low, &high); at > 0 && budget != 0;
         at = dwarf_ranges(&child, at, &base, &low, &high)) {
      --budget;
      if (low < high) found.push_back({low, high, dwarf_dieoffset(&child)});
    }
  } while (budget != 0 && dwarf_siblingof(&child, &child) == 0);
}

// Appends what is inlined at the address, the innermost first.
void DwarfFunctions::add_scopes(Dwarf_Die parent, uint64_t address, size_t depth, uint64_t& budget,
                                std::vector<Dwarf_Die>& found) {
  Dwarf_Die child;
  if (depth == kMostDepth || dwarf_child(&parent, &child) != 0) return;
  do {
    if (budget == 0) return;
    --budget;
    const int tag = dwarf_tag(&child);
    if ((tag != DW_TAG_lexical_block && tag != DW_TAG_inlined_subroutine) ||
        dwarf_haspc(&child, address) != 1)
      continue;
    add_scopes(child, address, depth + 1, budget, found);
    if (tag == DW_TAG_inlined_subroutine) found.push_back(child);
    return;
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace telltale
