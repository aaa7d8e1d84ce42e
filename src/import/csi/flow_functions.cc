#include "import/csi/flow_functions.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "formats/csi/wire.h"

namespace telltale {
namespace {

using csi::FlowRecord;

// Linkers and C libraries add these to each program. They call `main` and functions whose addresses
// are taken, and no others.
constexpr auto kStartup = std::to_array<std::string_view>(
    {"_start", "_init", "_fini", "deregister_tm_clones", "register_tm_clones",
     "__do_global_dtors_aux", "frame_dummy", "__libc_csu_init", "__libc_csu_fini",
     "_dl_relocate_static_pie", "etext", "_etext", "__etext"});
// The same of the part of libc that is always linked statically.
constexpr auto kStaticLibc =
    std::to_array<std::string_view>({"atexit", "at_quick_exit", "__stat", "__fstat", "__lstat",
                                     "pthread_atfork", "__pthread_atfork"});
// Telltale's runtime libraries: what their functions' names begin with, and those of libc that they
// interpose.
constexpr auto kRuntime = std::to_array<std::string_view>(
    {"_ZN8telltale", "_ZNK8telltale", "_ZZN8telltale", "telltale", "__telltale", "sampler_"});
constexpr auto kInterposed =
    std::to_array<std::string_view>({"pthread_create", "sigaction", "signal", "__sysv_signal"});

bool is_startup(std::string_view symbol) {
  return std::ranges::find(kStartup, symbol) != kStartup.end() ||
         std::ranges::find(kStaticLibc, symbol) != kStaticLibc.end() ||
         std::ranges::find(kInterposed, symbol) != kInterposed.end() ||
         std::ranges::any_of(kRuntime, [&](auto prefix) { return symbol.starts_with(prefix); });
}

bool same_blocks(const FlowRecord& a, const FlowRecord& b) {
  return std::ranges::equal(a.blocks, b.blocks,
                            [](const auto& x, const auto& y) {
                              return x.successors == y.successors && x.returns == y.returns;
                            }) &&
         std::ranges::equal(a.calls, b.calls, [](const auto& x, const auto& y) {
           return x.block == y.block && x.callee == y.callee && x.may_jump == y.may_jump &&
                  x.runs_other_copy == y.runs_other_copy;
         });
}

ProgramFlow::Function function_of(const FlowRecord& record) {
  ProgramFlow::Function function;
  for (const FlowRecord::Block& block : record.blocks) {
    function.blocks.push_back(
        {.successors = block.successors, .returns = block.returns, .may_resume = block.may_resume});
  }
  for (const FlowRecord::Call& call : record.calls)
    function.blocks[call.block].calls.push_back(
        {.is_known = true, .may_jump = call.may_jump, .runs_other_copy = call.runs_other_copy});
  function.calls_setjmp = record.calls_setjmp;
  return function;
}

// Whether the module has functions that no record describes: they may call any other by name.
bool has_other_code(const ModuleSymbols& symbols, const std::vector<FlowRecord>& flows) {
  if (!symbols.is_complete) return true;
  std::unordered_set<std::string_view> described;
  for (const FlowRecord& flow : flows) {
    described.insert(flow.symbol);
    described.insert(csi::without_variant(flow.symbol));
  }
  return std::ranges::any_of(symbols.functions, [&](const std::string& symbol) {
    // Variants that did not run have no records here.
    return !described.contains(symbol) && !described.contains(csi::without_variant(symbol)) &&
           !is_startup(symbol);
  });
}

void add_lines(const FlowRecord& record, FlowFunction& function) {
  function.lines = lines_of(record, record.lines);
  function.lost_lines = lines_of(record, record.lost_lines);
  const auto for_each = [&](const auto& visit) {
    for (auto* const blocks : {&function.lines, &function.lost_lines})
      for (std::vector<LineHere>& lines : *blocks) std::ranges::for_each(lines, visit);
  };
  std::vector<SourceLine>& all = function.all_lines;
  for_each([&](const LineHere& here) { all.push_back(here.line); });
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  for_each([&](LineHere& here) {
    here.index = static_cast<size_t>(std::ranges::lower_bound(all, here.line) - all.begin());
  });
}

// Records of coverage list a successor once.
std::vector<uint32_t> without_repeats(const std::vector<uint32_t>& all) {
  std::vector<uint32_t> once;
  for (const uint32_t each : all)
    if (std::ranges::find(once, each) == once.end()) once.push_back(each);
  return once;
}

bool same_blocks(const csi::CoverageRecord& coverage, const FlowRecord& flow) {
  return std::ranges::equal(coverage.blocks, flow.blocks, [](const auto& x, const auto& y) {
    return x.successors == without_repeats(y.successors) && x.returns == y.returns;
  });
}

}  // namespace

bool is_own(const csi::PathScope& scope, const FlowFunction& function, const FlowRecord& record) {
  return scope.function == record.symbol || scope.function == function.source;
}

std::string source_of(const FlowRecord& record) {
  return std::string(csi::without_variant(record.source.empty() ? record.symbol : record.source));
}

uint32_t FlowFunctions::add(const std::string& module, const FlowRecord& record) {
  Symbols& symbols = by_symbol_[module];
  auto& same_name = symbols[std::string(csi::without_variant(record.symbol))];
  for (const uint32_t known : same_name) {
    FlowFunction& function = functions_[known];
    const FlowRecord& first = *function.copies.front();
    if (function.file != record.file || first.is_local != record.is_local ||
        !same_blocks(first, record))
      continue;
    function.copies.push_back(&record);
    flow_.functions[known].calls_setjmp |= record.calls_setjmp;
    return known;
  }
  const auto index = static_cast<uint32_t>(functions_.size());
  functions_.push_back({.symbol = std::string(csi::without_variant(record.symbol)),
                        .source = source_of(record),
                        .file = record.file,
                        .module = module,
                        .line = record.line,
                        .copies = {&record},
                        .folded_with = {}});
  add_lines(record, functions_.back());
  add_owners(functions_.back());
  flow_.functions.push_back(function_of(record));
  same_name.push_back(index);
  return index;
}

uint32_t FlowFunctions::add_source(const std::string& module, const std::string& symbol,
                                   const std::string& file) {
  const auto number = static_cast<uint32_t>(sources_.size());
  return sources_.try_emplace({module, symbol, file}, number).first->second;
}

void FlowFunctions::add_owners(FlowFunction& function) {
  const FlowRecord& record = *function.copies.front();
  for (const csi::PathScope& scope : record.scopes) {
    const bool is_inlined = !is_own(scope, function, record);
    const std::string& symbol = is_inlined ? scope.function.str() : function.source;
    const uint32_t source = add_source(function.module, symbol, scope.file);
    function.owners.try_emplace(
        scope.number,
        FlowFunction::Owner{.source = source, .is_inlined = is_inlined, .line = scope.line});
  }
}

void FlowFunctions::add_module(const std::string& module, const std::vector<FlowRecord>& flows,
                               const std::vector<csi::UnitRecord>& units,
                               const ModuleSymbols& symbols) {
  std::unordered_set<uint64_t> keys;
  std::set<uint32_t> added;
  for (const FlowRecord& record : flows) {
    // Linking leaves copies of records.
    if (keys.insert(record.key).second) added.insert(add(module, record));
  }
  for (const csi::UnitRecord& unit : units) {
    for (const auto* const lines : {&unit.removed, &unit.vanished})
      for (const csi::UnitRecord::Lines& each : *lines) add_source(module, each.symbol, each.file);
  }
  const bool is_open = units.empty() || has_other_code(symbols, flows);
  std::set<std::string_view> taken;
  for (const csi::UnitRecord& unit : units) taken.insert(unit.taken.begin(), unit.taken.end());
  for (const uint32_t index : added) {
    const FlowFunction& function = functions_[index];
    ProgramFlow::Function& flow = flow_.functions[index];
    const bool is_local = function.copies.front()->is_local;
    const bool is_taken = taken.contains(function.symbol) ||
                          std::ranges::any_of(function.copies, [](const FlowRecord* copy) {
                            return copy->is_optimised_later;
                          });
    const bool is_main = function.symbol == "main" && !is_local;
    flow.is_start = is_main;
    if (is_main) flow.constructors = constructors(added, units);
    flow.is_open = is_taken || (!is_local && !is_main &&
                                (is_open || symbols.exported.contains(function.symbol)));
    resolve(index, module, symbols);
  }
  find_folded(module, symbols);
}

void FlowFunctions::find_folded(const std::string& module, const ModuleSymbols& symbols) {
  for (const std::vector<std::string>& names : symbols.at_one_address) {
    std::set<uint32_t> folded;
    size_t described = 0;  // aliases have no records
    for (const std::string& name : names) {
      const std::vector<uint32_t> functions = find(module, name);
      if (!functions.empty()) ++described;
      folded.insert(functions.begin(), functions.end());
    }
    if (described < 2 || folded.size() < 2) continue;
    for (const uint32_t f : folded) functions_[f].folded_with.insert(folded.begin(), folded.end());
  }
  for (uint32_t f = 0; f < functions_.size(); ++f) functions_[f].folded_with.erase(f);
}

std::vector<uint32_t> FlowFunctions::callees_of(const FlowRecord& caller, const std::string& callee,
                                                const Symbols& of_module) const {
  const auto found = of_module.find(callee);
  if (found == of_module.end()) return {};
  std::vector<uint32_t> local;
  std::vector<uint32_t> global;
  for (const uint32_t index : found->second) {
    const auto& copies = functions_[index].copies;
    if (!copies.front()->is_local) {
      global.push_back(index);
    } else if (std::ranges::any_of(
                   copies, [&](const FlowRecord* copy) { return copy->unit == caller.unit; })) {
      local.push_back(index);
    }
  }
  return local.empty() ? global : local;
}

void FlowFunctions::resolve(uint32_t function, const std::string& module,
                            const ModuleSymbols& symbols) {
  const Symbols& of_module = by_symbol_[module];
  // Functions that a program defines cannot be replaced by those of a library.
  const bool is_program = of_module.contains("main");
  for (const FlowRecord* const record : functions_[function].copies) {
    std::vector<size_t> calls(record->blocks.size(), 0);  // so far, by block
    for (const FlowRecord::Take& take : record->takes) {
      for (const uint32_t taken : callees_of(*record, take.symbol, of_module)) {
        flow_.functions[function].blocks[take.block].takes.push_back(taken);
        flow_.functions[taken].is_taken = true;
      }
    }
    for (const FlowRecord::Call& call : record->calls) {
      auto& at = flow_.functions[function].blocks[call.block].calls[calls[call.block]++];
      const std::vector<uint32_t> callees = callees_of(*record, call.callee, of_module);
      for (const uint32_t callee : callees) {
        if (std::ranges::find(at.callees, callee) == at.callees.end()) at.callees.push_back(callee);
      }
      const bool is_replaceable = !is_program && symbols.exported.contains(call.callee);
      if (callees.empty() || is_replaceable) at.is_known = false;
      at.may_move = at.may_move || record->is_optimised_later;
    }
  }
}

std::vector<uint32_t> FlowFunctions::constructors(const std::set<uint32_t>& candidates,
                                                  const std::vector<csi::UnitRecord>& units) const {
  using Name = std::pair<std::string_view, std::string_view>;  // unit and symbol
  std::map<Name, std::set<uint32_t>> named;
  for (const csi::UnitRecord& unit : units)
    for (const std::string& name : unit.constructors)
      named[{unit.unit, csi::without_variant(name)}];
  for (const uint32_t index : candidates) {
    const auto& copies = functions_[index].copies;
    if (std::ranges::any_of(copies, &FlowRecord::is_optimised_later)) continue;
    for (const FlowRecord* const copy : copies) {
      const auto found = named.find({copy->unit, functions_[index].symbol});
      if (found != named.end()) found->second.insert(index);
    }
  }
  std::vector<uint32_t> called;
  for (const auto& [name, functions] : named)
    if (functions.size() == 1) called.push_back(*functions.begin());
  return called;
}

std::vector<uint32_t> FlowFunctions::find(const std::string& module,
                                          std::string_view symbol) const {
  const auto symbols = by_symbol_.find(module);
  if (symbols == by_symbol_.end()) return {};
  const auto found = symbols->second.find(csi::without_variant(symbol));
  return found == symbols->second.end() ? std::vector<uint32_t>() : found->second;
}

bool FlowFunctions::is_folded(const std::string& module, std::string_view symbol) const {
  return std::ranges::any_of(find(module, symbol),
                             [&](uint32_t f) { return !functions_[f].folded_with.empty(); });
}

std::optional<uint32_t> FlowFunctions::flagged_by(const std::string& module,
                                                  const csi::CoverageRecord& record) const {
  std::optional<uint32_t> found;
  for (const uint32_t f : find(module, record.symbol)) {
    const bool fits =
        record.mechanism == "FC" || same_blocks(record, *functions_[f].copies.front());
    if (!fits || functions_[f].file != record.file) continue;
    if (found) return std::nullopt;
    found = f;
  }
  return found;
}

const FlowFunction* FlowFunctions::named(const std::string& module,
                                         const std::string& symbol) const {
  const auto symbols = by_symbol_.find(module);
  if (symbols == by_symbol_.end()) return nullptr;
  const auto found = symbols->second.find(symbol);
  return found == symbols->second.end() ? nullptr : &functions_[found->second.front()];
}

bool FlowFunctions::calls_return() const {
  // They end activations that a caller waits for, or leave stacks that nothing finds.
  constexpr auto kLeave = std::to_array<std::string_view>(
      {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "pthread_exit", "pthread_cancel",
       "thrd_exit", "makecontext", "setcontext", "swapcontext", "clone", "vfork"});
  bool forks = false;
  bool has_threads = false;
  for (const FlowFunction& function : functions_) {
    for (const FlowRecord* const record : function.copies) {
      if (record->calls_setjmp || record->is_optimised_later) return false;
      for (const FlowRecord::Call& call : record->calls) {
        if (std::ranges::find(kLeave, call.callee) != kLeave.end()) return false;
        forks = forks || call.callee == "fork";
        has_threads =
            has_threads || call.callee == "pthread_create" || call.callee == "thrd_create";
      }
    }
  }
  // Of a forked process, other threads have no stacks.
  return !(forks && has_threads);
}

}  // namespace telltale
