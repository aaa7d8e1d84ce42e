#include "import/csi/module_symbols.h"

#include <elf.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "import/csi/symbol_tables.h"

namespace telltale {
namespace {

// Parts of functions that the compiler placed separately, and marks of assemblers.
bool is_no_function(std::string_view name) {
  return name.empty() || name.starts_with('$') || name.find(".__part.") != std::string_view::npos;
}

// mold names the stubs through which a program calls libraries.
bool is_linker_stub(std::string_view name, uint64_t size) {
  return size == 0 && (name.ends_with("$plt") || name.ends_with("$pltgot"));
}

// The names of functions that are at one address, a list for each such address.
using Addressed = std::pair<uint64_t, std::string_view>;
std::vector<std::vector<std::string>> at_one_address(std::vector<Addressed> functions) {
  std::vector<std::vector<std::string>> all;
  std::ranges::sort(functions);
  for (auto begin = functions.begin(); begin != functions.end();) {
    const auto end = std::find_if(begin, functions.end(), [&](const Addressed& function) {
      return function.first != begin->first;
    });
    if (end - begin > 1) {
      std::vector<std::string>& names = all.emplace_back();
      for (; begin != end; ++begin) names.emplace_back(begin->second);
    }
    begin = end;
  }
  return all;
}

// Adds the defined functions of a table; false if it is damaged. Assembly need not give a symbol
// the type of a function: those without a type count if they are where functions are. `addressed`:
// functions that have code; null if they are not wanted.
bool read_table(const SymbolTable& table, std::endian order, std::set<std::string>& functions,
                std::vector<Addressed>* addressed) {
  std::vector<std::pair<uint16_t, std::string_view>> untyped;  // by section
  std::set<uint16_t> code;
  const bool is_whole = table.for_each(order, [&](const ElfSymbol& symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol.info);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if ((!is_function && type != STT_NOTYPE) || symbol.section == SHN_UNDEF ||
        is_linker_stub(symbol.name, symbol.size))
      return;
    if (is_function) {
      code.insert(symbol.section);
      functions.emplace(symbol.name);
      if (addressed != nullptr && symbol.size != 0)
        addressed->emplace_back(symbol.value, symbol.name);
    } else if (!is_no_function(symbol.name)) {
      untyped.emplace_back(symbol.section, symbol.name);
    }
  });
  if (!is_whole) return false;
  for (const auto& [section, text] : untyped)
    if (code.contains(section)) functions.emplace(text);
  return true;
}

}  // namespace

std::map<std::string, ModuleSymbols> read_module_symbols(
    const CoreStacks& stacks, const std::map<std::string, ModulePaths>& modules,
    std::endian order) {
  std::map<std::string, ModuleSymbols> all;
  const auto is_wanted = [&](const SymbolTable& table) {
    const auto found = modules.find(table.symbols.module);
    return found != modules.end() && !found->second.flows.empty();
  };
  for (const SymbolTable& table : read_symbol_tables(stacks, ".symtab", ".strtab")) {
    if (!is_wanted(table)) continue;
    ModuleSymbols& symbols = all[table.symbols.module];
    std::vector<Addressed> addressed;
    symbols.is_complete = read_table(table, order, symbols.functions, &addressed);
    symbols.at_one_address = at_one_address(std::move(addressed));
  }
  for (const SymbolTable& table : read_symbol_tables(stacks, ".dynsym", ".dynstr")) {
    if (!is_wanted(table)) continue;
    ModuleSymbols& symbols = all[table.symbols.module];
    if (!read_table(table, order, symbols.exported, nullptr)) symbols.is_complete = false;
  }
  return all;
}

}  // namespace telltale
