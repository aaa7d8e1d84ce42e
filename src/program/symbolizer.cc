#include "program/symbolizer.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/sort_rows.h"
#include "program/debug_file_search.h"
#include "program/dwarf_functions.h"
#include "program/dwarf_units.h"
#include "program/function_scopes.h"

namespace telltale {

namespace {

// Maximum nesting of scopes that contain function definitions; deeper ones are skipped.
constexpr size_t kMaxScopeDepth = 64;
// How far after an address without a sized symbol the first line may begin: past any sled.
constexpr uint64_t kLineReach = 128;

struct Symbol {
  uint64_t address = 0;
  uint64_t size = 0;
  int index = 0;
  int rank = 0;  // the symbol with the highest rank at an address is shown
};

struct FunctionEntry {
  uint64_t address = 0;
  Dwarf_Off die = 0;
};

int rank_of(const GElf_Sym& symbol) {
  int rank = 0;
  const int type = GELF_ST_TYPE(symbol.st_info);
  if (type == STT_FUNC || type == STT_GNU_IFUNC) rank += 10;
  if (GELF_ST_BIND(symbol.st_info) == STB_GLOBAL) rank += 2;
  if (GELF_ST_BIND(symbol.st_info) == STB_WEAK) rank += 1;
  return rank;
}

// Assemblers' labels, and symbols that mark code and data on ARM and RISC-V.
bool is_label(std::string_view name) {
  return name.empty() || name.starts_with(".L") || name.starts_with("$");
}

bool may_hold_functions(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
      return true;
    default:
      return false;
  }
}

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

class Symbolizer::State {
 public:
  State(std::string path, SymbolizerOptions options)
      : path_(std::move(path)), places_(options.places), search_(std::move(options)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }

  CodeName find(uint64_t address, uint32_t section) {
    const std::lock_guard lock(mutex_);
    open();
    const std::optional<uint64_t> in_module = module_address(address, section);
    if (!in_module) return {};
    CodeName name;
    const Symbol* symbol = find_symbol(*in_module);
    if (symbol != nullptr) name.linkage_name = symbol_name(symbol->index);
    if (!places_ && !name.linkage_name.empty()) return name;
    const uint64_t reach = symbol != nullptr && symbol->size != 0
                               ? symbol->address + symbol->size - *in_module
                               : kLineReach;
    add_debug_info(*in_module, reach, name);
    return name;
  }

  CodeName find_instruction(uint64_t address) {
    const std::lock_guard lock(mutex_);
    open();
    const std::optional<uint64_t> in_module = module_address(address, 0);
    if (!in_module) return {};
    CodeName name;
    const Symbol* symbol = find_symbol(*in_module);
    if (symbol != nullptr) name.linkage_name = symbol_name(symbol->index);
    add_line(*in_module, name);
    return name;
  }

  std::vector<CodeName> find_frames(uint64_t address) {
    CodeName outermost = find_instruction(address);
    const std::lock_guard lock(mutex_);
    std::vector<CodeName> frames;
    const std::optional<uint64_t> in_module = module_address(address, 0);
    Dwarf_Addr bias = 0;
    Dwarf* dwarf = in_module ? dwfl_module_getdwarf(module_, &bias) : nullptr;
    std::optional<DwarfUnit> unit;
    if (dwarf != nullptr) unit = units_.find(dwarf, *in_module);
    if (unit) {
      SourcePlace place{outermost.file, outermost.line};
      for (Dwarf_Die& function : scopes_.find(*unit, *in_module - bias)) {
        frames.push_back({linkage_name_of(function), place.file, place.line, outermost.directory});
        if (is_inlined(function)) place = call_of(function);
      }
    }
    if (frames.empty()) frames.push_back(std::move(outermost));
    return frames;
  }

  std::optional<uint64_t> address_of(const std::string& linkage_name) {
    const std::lock_guard lock(mutex_);
    open();
    GElf_Addr bias = 0;
    if (module_ == nullptr || dwfl_module_getelf(module_, &bias) == nullptr) return std::nullopt;
    // find() keeps only one of several names at one address: this one searches all.
    std::optional<uint64_t> found;
    for_each_symbol([&](int, const char* name, const GElf_Sym&, GElf_Addr address) {
      if (!found && linkage_name == name) found = address - bias;
    });
    return found;
  }

  bool is_fixed() {
    const std::lock_guard lock(mutex_);
    open();
    GElf_Addr bias = 0;
    Elf* elf = module_ == nullptr ? nullptr : dwfl_module_getelf(module_, &bias);
    GElf_Ehdr header;
    return elf != nullptr && gelf_getehdr(elf, &header) != nullptr && header.e_type == ET_EXEC;
  }

  std::string debug_file() {
    const std::lock_guard lock(mutex_);
    open();
    Dwarf_Addr bias = 0;
    Dwarf* dwarf = module_ == nullptr ? nullptr : dwfl_module_getdwarf(module_, &bias);
    if (dwarf == nullptr) return {};
    const char* main_file = nullptr;
    const char* debug_file = nullptr;
    dwfl_module_info(module_, nullptr, nullptr, nullptr, nullptr, nullptr, &main_file, &debug_file);
    if (debug_file != nullptr) return debug_file;
    // A file from a server has no path.
    if (dwarf_getelf(dwarf) != dwfl_module_getelf(module_, &bias)) return "debuginfod";
    return text_or_empty(main_file);
  }

 private:
  void open() {
    if (opened_) return;
    opened_ = true;
    dwfl_ = dwfl_begin(search_.callbacks());
    if (dwfl_ == nullptr) return;
    dwfl_report_begin(dwfl_);
    module_ = dwfl_report_offline(dwfl_, path_.c_str(), path_.c_str(), -1);
    if (module_ != nullptr) search_.attach(module_);
    dwfl_report_end(dwfl_, nullptr, nullptr);
  }

  // libdwfl maps every module, and every section of an object file, to its own address range.
  std::optional<uint64_t> module_address(uint64_t address, uint32_t section) {
    if (module_ == nullptr) return std::nullopt;
    GElf_Addr bias = 0;
    Elf* elf = dwfl_module_getelf(module_, &bias);
    if (elf == nullptr) return std::nullopt;
    if (section == 0) return address + bias;
    GElf_Shdr storage;
    const GElf_Shdr* header = gelf_getshdr(elf_getscn(elf, section), &storage);
    if (header == nullptr) return std::nullopt;
    return header->sh_addr + address + bias;
  }

  // Calls use(index, name, symbol, address) for each defined symbol.
  template <typename Use>
  void for_each_symbol(Use use) {
    const int count = dwfl_module_getsymtab(module_);
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      GElf_Word section = 0;
      const char* name =
          dwfl_module_getsym_info(module_, i, &symbol, &address, &section, nullptr, nullptr);
      if (name != nullptr && section != SHN_UNDEF) use(i, name, symbol, address);
    }
  }

  void read_symbols() {
    if (symbols_read_) return;
    symbols_read_ = true;
    for_each_symbol([&](int i, const char* name, const GElf_Sym& symbol, GElf_Addr address) {
      const int type = GELF_ST_TYPE(symbol.st_info);
      if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) return;
      if (is_label(name)) return;
      symbols_.push_back({address, symbol.st_size, i, rank_of(symbol)});
    });
    std::ranges::sort(symbols_, [](const Symbol& a, const Symbol& b) {
      return std::tuple(a.address, b.rank, b.size, a.index) <
             std::tuple(b.address, a.rank, a.size, b.index);
    });
    const auto doubles = std::ranges::unique(symbols_, {}, &Symbol::address);
    symbols_.erase(doubles.begin(), doubles.end());
  }

  const Symbol* find_symbol(uint64_t address) {
    read_symbols();
    const auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
    if (after == symbols_.begin()) return nullptr;
    const Symbol& symbol = *(after - 1);
    if (symbol.address == address || address - symbol.address < symbol.size) return &symbol;
    return nullptr;
  }

  std::string symbol_name(int index) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    return text_or_empty(
        dwfl_module_getsym_info(module_, index, &symbol, &address, nullptr, nullptr, nullptr));
  }

  void add_debug_info(uint64_t address, uint64_t reach, CodeName& name) {
    Dwarf_Addr bias = 0;
    Dwarf* dwarf = dwfl_module_getdwarf(module_, &bias);
    if (dwarf == nullptr) return;
    units_.read(module_);
    std::optional<DwarfUnit> unit = units_.find(dwarf, address);
    if (!unit) return;
    add_declaration(*unit, address - bias, name);
    if (name.line == 0) add_first_line(unit->skeleton, address - bias, reach, name);
  }

  // The line of the instruction at an address of the module.
  void add_line(uint64_t address, CodeName& name) {
    Dwarf_Addr bias = 0;
    Dwarf* dwarf = dwfl_module_getdwarf(module_, &bias);
    if (dwarf == nullptr) return;
    units_.read(module_);
    std::optional<DwarfUnit> unit = units_.find(dwarf, address);
    if (!unit) return;
    Dwarf_Line* row = dwarf_getsrc_die(&unit->skeleton, address - bias);
    int line = 0;
    if (row == nullptr || dwarf_lineno(row, &line) != 0 || line <= 0) return;
    name.file = text_or_empty(dwarf_linesrc(row, nullptr, nullptr));
    name.line = static_cast<uint32_t>(line);
    Dwarf_Attribute attribute;
    name.directory =
        text_or_empty(dwarf_formstring(dwarf_attr(&unit->skeleton, DW_AT_comp_dir, &attribute)));
  }

  void add_declaration(DwarfUnit& unit, uint64_t address, CodeName& name) {
    const std::vector<FunctionEntry>& functions = functions_of(unit);
    const auto found = std::ranges::lower_bound(functions, address, {}, &FunctionEntry::address);
    Dwarf_Die die;
    if (found == functions.end() || found->address != address) return;
    if (dwarf_offdie(dwarf_cu_getdwarf(unit.whole.cu), found->die, &die) == nullptr) return;
    int line = 0;
    std::string file = file_of(die, DW_AT_decl_file);
    if (!file.empty() && dwarf_decl_line(&die, &line) == 0 && line > 0) {
      name.file = std::move(file);
      name.line = static_cast<uint32_t>(line);
    }
    if (name.linkage_name.empty()) name.linkage_name = linkage_name_of(die);
  }

  // Line tables give a sled line 0, so the first later row that has a line counts. A row that ends
  // a sequence belongs to the code before it.
  static void add_first_line(Dwarf_Die& unit, uint64_t address, uint64_t reach, CodeName& name) {
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (dwarf_getsrclines(&unit, &lines, &count) != 0) return;
    const auto address_of = [lines](size_t index) {
      Dwarf_Addr at = 0;
      dwarf_lineaddr(dwarf_onesrcline(lines, index), &at);
      return at;
    };
    size_t low = 0;
    for (size_t high = count; low < high;) {
      const size_t middle = low + (high - low) / 2;
      if (address_of(middle) < address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (; low < count && address_of(low) - address < reach; ++low) {
      Dwarf_Line* row = dwarf_onesrcline(lines, low);
      int line = 0;
      bool ends_sequence = false;
      if (dwarf_lineendsequence(row, &ends_sequence) != 0 || ends_sequence) continue;
      if (dwarf_lineno(row, &line) != 0 || line <= 0) continue;
      name.file = text_or_empty(dwarf_linesrc(row, nullptr, nullptr));
      name.line = static_cast<uint32_t>(line);
      return;
    }
  }

  const std::vector<FunctionEntry>& functions_of(DwarfUnit& unit) {
    const auto [place, is_new] = functions_.try_emplace(dwarf_dieoffset(&unit.skeleton));
    if (is_new) {
      collect_functions(unit.whole, place->second);
      sort_rows(place->second, {}, &FunctionEntry::address);
    }
    return place->second;
  }

  // Walks the unit's scopes with an explicit stack. Offsets only increase on the way, whatever the
  // file's sibling references are.
  static void collect_functions(Dwarf_Die& unit, std::vector<FunctionEntry>& functions) {
    std::vector<Dwarf_Die> scopes(1);
    if (dwarf_child(&unit, scopes.data()) != 0) return;
    Dwarf_Off reached = 0;
    while (!scopes.empty()) {
      Dwarf_Die die = scopes.back();
      const Dwarf_Off offset = dwarf_dieoffset(&die);
      const int tag = dwarf_tag(&die);
      Dwarf_Addr low = 0;
      if (tag == DW_TAG_subprogram && dwarf_entrypc(&die, &low) == 0)
        functions.push_back({low, offset});
      Dwarf_Die next;
      if (offset < reached || dwarf_siblingof(&die, &next) != 0 ||
          dwarf_dieoffset(&next) <= offset) {
        scopes.pop_back();
      } else {
        scopes.back() = next;
      }
      reached = std::max(reached, offset);
      if (may_hold_functions(tag) && scopes.size() < kMaxScopeDepth &&
          dwarf_child(&die, &next) == 0) {
        scopes.push_back(next);
      }
    }
  }

  std::string path_;
  bool places_;
  DebugFileSearch search_;
  std::mutex mutex_;
  bool opened_ = false;
  bool symbols_read_ = false;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  std::vector<Symbol> symbols_;  // by address, one each
  DwarfUnits units_;
  DwarfFunctions scopes_;
  std::unordered_map<Dwarf_Off, std::vector<FunctionEntry>> functions_;  // of queried units
};

Symbolizer::Symbolizer(std::string path, SymbolizerOptions options)
    : state_(std::make_unique<State>(std::move(path), std::move(options))) {}
Symbolizer::~Symbolizer() = default;
CodeName Symbolizer::find(uint64_t address, uint32_t section) {
  return state_->find(address, section);
}
CodeName Symbolizer::find_instruction(uint64_t address) {
  return state_->find_instruction(address);
}
std::vector<CodeName> Symbolizer::find_frames(uint64_t address) {
  return state_->find_frames(address);
}
std::optional<uint64_t> Symbolizer::address_of(const std::string& linkage_name) {
  return state_->address_of(linkage_name);
}
bool Symbolizer::is_fixed() { return state_->is_fixed(); }
std::string Symbolizer::debug_file() { return state_->debug_file(); }

}  // namespace telltale
