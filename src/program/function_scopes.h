#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>

namespace telltale {

// Text as in the program, never trusted. Empty and 0: unknown.
struct SourcePlace {
  std::string file;
  uint32_t line = 0;
};

bool is_inlined(Dwarf_Die& function);
// The file that an attribute of the function names, such as DW_AT_decl_file; empty if it has none.
// Not dwarf_decl_file(): it ends the process for functions in .dwo files without a line table.
std::string file_of(Dwarf_Die& function, unsigned attribute);
std::string linkage_name_of(Dwarf_Die& function);  // without one, the name
SourcePlace line_at(Dwarf_Die& unit, uint64_t address);
// The place of the call that was inlined. REQUIRES: is_inlined(function).
SourcePlace call_of(Dwarf_Die& function);

}  // namespace telltale
