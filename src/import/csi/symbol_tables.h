#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/core_stacks.h"

namespace telltale {

// A symbol of a 64-bit ELF file, with the fields of its entry.
struct ElfSymbol {
  std::string_view name;
  uint8_t info = 0;
  uint16_t section = 0;
  uint64_t value = 0;
  uint64_t size = 0;
};

// A symbol table of a module that a process had loaded.
struct SymbolTable {
  CoreStacks::Section symbols;
  std::optional<CoreStacks::Section> names;  // none: it is missing

  // Calls `visit` with each symbol in its order, up to damage; returns whether there was none.
  [[nodiscard]] bool for_each(std::endian order,
                              const std::function<void(const ElfSymbol&)>& visit) const;
};

// The tables in sections of one name, whose names are in sections of the other: ".symtab" and
// ".strtab", or ".dynsym" and ".dynstr". What is damaged is not reported: reading paths does.
std::vector<SymbolTable> read_symbol_tables(const CoreStacks& stacks, const std::string& symbols,
                                            const std::string& names);

}  // namespace telltale
