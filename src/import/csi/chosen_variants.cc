#include "import/csi/chosen_variants.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bytes/cursor.h"
#include "formats/csi/wire.h"
#include "import/csi/symbol_tables.h"

namespace telltale {
namespace {

constexpr std::string_view kVariable = "__CSI_inst_";
constexpr std::string_view kNone = "$none";

// The addresses of the variables, by the symbol of the function; link-time.
std::multimap<std::string, uint64_t> variables_of(const SymbolTable& table, std::endian order) {
  std::multimap<std::string, uint64_t> found;
  // Of a damaged table, those before the damage are used.
  static_cast<void>(table.for_each(order, [&](const ElfSymbol& symbol) {
    if (symbol.name.starts_with(kVariable))
      found.emplace(symbol.name.substr(kVariable.size()), symbol.value);
  }));
  return found;
}

// The value in all copies of the module that were loaded.
std::optional<uint32_t> value_at(const CoreFile& core, uint64_t address,
                                 const std::vector<uint64_t>& biases) {
  std::optional<uint32_t> value;
  for (const uint64_t bias : biases) {
    const Bytes bytes = core.memory(address + bias, sizeof(uint32_t));
    if (bytes.size() != sizeof(uint32_t)) return std::nullopt;
    Cursor in(bytes, core.order());
    const auto here = in.read<uint32_t>("variant");
    if (value && value != here) return std::nullopt;
    value = here;
  }
  return value;
}

bool is_variant(std::string_view symbol) { return csi::without_variant(symbol) != symbol; }

}  // namespace

void ChosenVariants::read() {
  by_module_.emplace();
  for (const SymbolTable& table : read_symbol_tables(stacks_, ".symtab", ".strtab")) {
    const auto variables = variables_of(table, core_.order());
    for (const auto& [function, address] : variables) {
      if (variables.count(function) != 1) continue;
      if (const auto value = value_at(core_, address, table.symbols.biases))
        (*by_module_)[table.symbols.module].emplace(function, *value);
    }
  }
}

std::set<std::string_view> variants_not_chosen(const std::set<std::string_view>& variants,
                                               uint32_t value) {
  std::vector<std::string_view> ordered(variants.begin(), variants.end());
  std::ranges::stable_partition(ordered,
                                [](std::string_view symbol) { return symbol.ends_with(kNone); });
  std::set<std::string_view> others = variants;
  size_t chosen = 0;  // also for values without a variant
  for (size_t i = 0; i < ordered.size(); ++i)
    if (!ordered[i].ends_with(kNone) && value == i + 1) chosen = i;
  if (!ordered.empty()) others.erase(ordered[chosen]);
  return others;
}

void ChosenVariants::keep_chosen(const std::string& module, csi::PathRecords& records) {
  std::map<std::string_view, std::set<std::string_view>> variants;
  for (const csi::FlowRecord& flow : records.flows)
    if (is_variant(flow.symbol)) variants[csi::without_variant(flow.symbol)].insert(flow.symbol);
  if (variants.empty()) return;
  if (!by_module_) read();
  const auto values = by_module_->find(module);
  if (values == by_module_->end()) return;
  std::set<std::string> others;
  for (const auto& [function, all] : variants) {
    const auto value = values->second.find(function);
    if (value == values->second.end()) continue;
    for (const std::string_view symbol : variants_not_chosen(all, value->second))
      others.emplace(symbol);
  }
  std::erase_if(records.flows, [&](const auto& flow) { return others.contains(flow.symbol); });
  std::erase_if(records.coverage, [&](const auto& each) { return others.contains(each.symbol); });
}

}  // namespace telltale
