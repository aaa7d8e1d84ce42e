#include "import/csi/symbol_tables.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

bool SymbolTable::for_each(std::endian order,
                           const std::function<void(const ElfSymbol&)>& visit) const {
  if (!names) return false;
  const std::string_view texts = names->bytes;
  Cursor in(std::as_bytes(std::span(symbols.bytes)), order);
  while (!in.at_end()) {
    ElfSymbol symbol;
    const auto name = in.read<uint32_t>("name");
    symbol.info = in.read<uint8_t>("info");
    in.read<uint8_t>("visibility");
    symbol.section = in.read<uint16_t>("section");
    symbol.value = in.read<uint64_t>("value");
    symbol.size = in.read<uint64_t>("size");
    if (in.error() || name >= texts.size()) return false;
    const std::string_view rest = texts.substr(name);
    symbol.name = rest.substr(0, rest.find('\0'));
    visit(symbol);
  }
  return true;
}

std::vector<SymbolTable> read_symbol_tables(const CoreStacks& stacks, const std::string& symbols,
                                            const std::string& names) {
  ProblemLog ignored;
  std::vector<CoreStacks::Section> texts = stacks.sections(names, ignored);
  std::vector<SymbolTable> tables;
  for (CoreStacks::Section& table : stacks.sections(symbols, ignored)) {
    const auto its = std::ranges::find_if(texts, [&](const CoreStacks::Section& section) {
      return section.module == table.module && section.file == table.file;
    });
    std::optional<CoreStacks::Section> found;
    if (its != texts.end()) {
      found = std::move(*its);
      texts.erase(its);
    }
    tables.push_back({.symbols = std::move(table), .names = std::move(found)});
  }
  return tables;
}

}  // namespace telltale
