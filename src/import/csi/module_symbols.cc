#include "import/csi/module_symbols.h"

#include <elf.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {
namespace {

using Section = CoreStacks::Section;

const Section* strings_of(const std::vector<Section>& strings, const Section& symbols) {
  for (const Section& section : strings)
    if (section.module == symbols.module && section.file == symbols.file) return &section;
  return nullptr;
}

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
bool read_table(const Section& symbols, std::string_view strings, std::endian order,
                std::set<std::string>& functions, std::vector<Addressed>* addressed) {
  std::vector<std::pair<uint16_t, std::string_view>> untyped;  // by section
  std::set<uint16_t> code;
  Cursor in(std::as_bytes(std::span(symbols.bytes)), order);
  while (!in.at_end()) {
    const auto name = in.read<uint32_t>("name");
    const auto info = in.read<uint8_t>("info");
    in.read<uint8_t>("visibility");
    const auto section = in.read<uint16_t>("section");
    const auto value = in.read<uint64_t>("value");
    const auto size = in.read<uint64_t>("size");
    if (in.error()) return false;
    const unsigned type = ELF64_ST_TYPE(info);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if ((!is_function && type != STT_NOTYPE) || section == SHN_UNDEF) continue;
    if (name >= strings.size()) return false;
    const std::string_view rest = strings.substr(name);
    const std::string_view text = rest.substr(0, rest.find('\0'));
    if (is_linker_stub(text, size)) continue;
    if (is_function) {
      code.insert(section);
      functions.emplace(text);
      if (addressed != nullptr && size != 0) addressed->emplace_back(value, text);
    } else if (!is_no_function(text)) {
      untyped.emplace_back(section, text);
    }
  }
  for (const auto& [section, text] : untyped)
    if (code.contains(section)) functions.emplace(text);
  return true;
}

}  // namespace

std::map<std::string, ModuleSymbols> read_module_symbols(
    const CoreStacks& stacks, const std::map<std::string, ModulePaths>& modules,
    std::endian order) {
  std::map<std::string, ModuleSymbols> all;
  const auto is_wanted = [&](const Section& table) {
    const auto found = modules.find(table.module);
    return found != modules.end() && !found->second.flows.empty();
  };
  ProblemLog ignored;  // what is damaged is reported where paths are read
  const std::vector<Section> names = stacks.sections(".strtab", ignored);
  for (const Section& table : stacks.sections(".symtab", ignored)) {
    if (!is_wanted(table)) continue;
    const Section* const strings = strings_of(names, table);
    ModuleSymbols& symbols = all[table.module];
    std::vector<Addressed> addressed;
    symbols.is_complete = strings != nullptr &&
                          read_table(table, strings->bytes, order, symbols.functions, &addressed);
    symbols.at_one_address = at_one_address(std::move(addressed));
  }
  const std::vector<Section> exported_names = stacks.sections(".dynstr", ignored);
  for (const Section& table : stacks.sections(".dynsym", ignored)) {
    if (!is_wanted(table)) continue;
    const Section* const strings = strings_of(exported_names, table);
    ModuleSymbols& symbols = all[table.module];
    if (strings == nullptr || !read_table(table, strings->bytes, order, symbols.exported, nullptr))
      symbols.is_complete = false;
  }
  return all;
}

}  // namespace telltale
