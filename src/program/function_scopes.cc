#include "program/function_scopes.h"

#include <dwarf.h>

namespace telltale {
namespace {

std::string name_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

uint64_t number_of(Dwarf_Die& die, unsigned attribute_name) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_formudata(dwarf_attr(&die, attribute_name, &attribute), &number) != 0) return 0;
  return number;
}

}  // namespace

bool is_inlined(Dwarf_Die& function) { return dwarf_tag(&function) == DW_TAG_inlined_subroutine; }

std::string linkage_name_of(Dwarf_Die& function) {
  Dwarf_Attribute attribute;
  const char* name =
      dwarf_formstring(dwarf_attr_integrate(&function, DW_AT_linkage_name, &attribute));
  return name_or_empty(name != nullptr ? name : dwarf_diename(&function));
}

SourcePlace line_at(Dwarf_Die& unit, uint64_t address) {
  SourcePlace place;
  Dwarf_Line* row = dwarf_getsrc_die(&unit, address);
  int line = 0;
  if (row == nullptr || dwarf_lineno(row, &line) != 0 || line <= 0) return place;
  place.file = name_or_empty(dwarf_linesrc(row, nullptr, nullptr));
  place.line = static_cast<uint32_t>(line);
  return place;
}

std::string file_of(Dwarf_Die& function, unsigned attribute_name) {
  // The function that was inlined may be of another unit than the call.
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_formudata(dwarf_attr_integrate(&function, attribute_name, &attribute), &number) != 0)
    return {};
  Dwarf_Half version = 0;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  // File 0 means "none" up to DWARF 4, since DWARF 5 it is the unit's own source.
  if (dwarf_cu_info(attribute.cu, &version, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) !=
          0 ||
      (number == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, &count) != 0 ||
      number >= count)
    return {};
  return name_or_empty(dwarf_filesrc(files, static_cast<size_t>(number), nullptr, nullptr));
}

SourcePlace call_of(Dwarf_Die& function) {
  return {.file = file_of(function, DW_AT_call_file),
          .line = static_cast<uint32_t>(number_of(function, DW_AT_call_line))};
}

}  // namespace telltale
