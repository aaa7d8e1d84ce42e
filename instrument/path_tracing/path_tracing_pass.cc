#include "path_tracing/path_tracing_pass.h"

#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/position_printer.h"
#include "codegen/position_probes.h"
#include "path_tracing/coroutine_lines.h"
#include "path_tracing/coverage_code.h"
#include "path_tracing/debug_information.h"
#include "path_tracing/flow_graph.h"
#include "path_tracing/flow_record.h"
#include "path_tracing/path_code.h"
#include "path_tracing/path_metadata.h"
#include "path_tracing/position_code.h"
#include "path_tracing/separate_returns.h"
#include "path_tracing/source_lines.h"
#include "path_tracing/source_pieces.h"
#include "path_tracing/variants.h"
#include "source_function.h"
#include "translation_unit.h"

namespace telltale::instrument {
namespace {

// Whether code that this unit does not show may call the function: that of other units, or code
// that has its address.
bool is_called_unseen(const llvm::Function& function) {
  return !function.hasLocalLinkage() || function.hasAddressTaken();
}

// The reason why a function cannot be traced regardless of its paths; empty if it can.
std::string unsupported_reason(const llvm::Function& function) {
  if (function.hasFnAttribute(llvm::Attribute::Naked)) return "naked function";
  if (function.isPresplitCoroutine()) return "it is a coroutine that has not been split yet";
  for (const llvm::BasicBlock& block : function) {
    const llvm::Instruction& first = *block.getFirstNonPHIIt();
    if (llvm::isa<llvm::FuncletPadInst>(first) || llvm::isa<llvm::CatchSwitchInst>(first))
      return "funclets";
  }
  return "";
}

class PathTracing {
 public:
  PathTracing(llvm::Module& module, const TracedUnit& unit, bool is_optimised)
      : module_(module), unit_(unit), is_optimised_(is_optimised) {}

  void run() {
    const std::string unit = unit_record_text(module_);
    std::vector<llvm::Function*> functions;
    for (llvm::Function& function : module_) {
      if (!function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
          !function.getName().empty()) {
        if (is_generated(function)) {
          append_flow(function);
        } else {
          functions.push_back(&function);
        }
      }
    }
    for (llvm::Function* const function : functions) instrument_if_asked(*function);
    append_module_record(module_, csi::RecordKind::kUnit, unit + unseen_functions_text(module_));
    const std::string names = names_of_places().take_text();
    if (!names.empty()) append_module_record(module_, csi::RecordKind::kNames, names);
    tell_filtered();
  }

 private:
  // Once for all copies of a function that the Sampler made: the user knows the source's name.
  void warn(const llvm::Function& function, const std::string& why) {
    const std::string name = source_of(function).symbol.str();
    if (unit_.options.is_silent || !warned_.insert({name, why}).second) return;
    llvm::errs() << "telltale-cc: warning: " << module_.getSourceFileName() << ": function '"
                 << name << "' is not traced: " << why << "\n";
  }

  void skip(llvm::Function& function, const std::string& reason, std::uint64_t path_count = 0) {
    append_skipped_record(function, skipped_record_text(function, reason, path_count));
  }

  // Of a function that is not instrumented.
  void append_flow(llvm::Function& function) const {
    collect_source_lines(function);
    append(flow_of(function, function.hasLocalLinkage()), function);
  }
  // What a naked function does is known to its assembly alone: no record, as for other assembly.
  static void append(const FlowRecord& flow, llvm::Function& function) {
    if (!function.hasFnAttribute(llvm::Attribute::Naked)) flow.append(function);
  }
  [[nodiscard]] FlowRecord flow_of(llvm::Function& function, bool is_local) const {
    return {function, is_local, unit_.optimises_later, unit_.options.records_data};
  }

  void instrument_if_asked(llvm::Function& function) {
    const TraceRule* const rule = unit_.options.rule_for(source_of(function).symbol);
    if (rule == nullptr) {
      warn(function, "no rule of the schema matches");
      skip(function, "no rule of the schema matches");
      append_flow(function);
    } else {
      instrument(function, rule->variants);
    }
  }

  // One line for all functions whose variant lost the same mechanisms.
  void tell_filtered() const {
    if (unit_.options.is_silent) return;
    for (const auto& [sets, filtered] : filtered_) {
      llvm::errs() << "telltale-cc: warning: " << module_.getSourceFileName()
                   << ": filtered scheme '" << braced(sets.first) << "' to '" << braced(sets.second)
                   << "' for function '" << filtered.first << "'";
      const std::size_t others = filtered.functions.size() - 1;
      if (others > 0) llvm::errs() << " and " << others << " more";
      llvm::errs() << "\n";
    }
  }

  static std::string braced(MechanismSet mechanisms) {
    std::string names = mechanisms == 0 ? "" : name_of(mechanisms);
    std::replace(names.begin(), names.end(), '$', ',');
    return "{" + names + "}";
  }

  // Leaves out mechanisms that tell nothing about the function, or nothing that others do not tell.
  [[nodiscard]] MechanismSet filtered(const llvm::Function& function,
                                      MechanismSet mechanisms) const {
    if (!unit_.options.filters) return mechanisms;
    if ((mechanisms & kCoverBlocks) != 0) mechanisms &= ~(kCoverCalls | kCoverFunctions);
    if ((mechanisms & kCoverCalls) != 0 && !has_call_sites(function)) mechanisms &= ~kCoverCalls;
    // Its only path is known without tracing.
    if (llvm::succ_empty(&function.getEntryBlock())) mechanisms &= ~kTracePaths;
    return mechanisms;
  }

  void instrument(llvm::Function& function, const std::vector<MechanismSet>& asked) {
    const std::string reason = unsupported_reason(function);
    if (!reason.empty() && asked != std::vector<MechanismSet>{0}) warn(function, reason);
    std::vector<MechanismSet> variants;
    for (const MechanismSet mechanisms : asked) {
      const MechanismSet kept = reason.empty() ? filtered(function, mechanisms) : 0;
      if (reason.empty() && kept != mechanisms) {
        Filtered& same = filtered_[{mechanisms, kept}];
        const std::string name = source_of(function).symbol.str();
        if (same.functions.empty()) same.first = name;
        same.functions.insert(name);
      }
      if (!llvm::is_contained(variants, kept)) variants.push_back(kept);
    }
    if (variants.size() == 1 && (variants[0] & kTracePaths) == 0)
      skip(function, !reason.empty()                 ? reason
                     : (asked[0] & kTracePaths) != 0 ? "one block"
                                                     : "the schema excludes it");
    if (variants.size() > 1) {
      make_variants(function, std::move(variants));
    } else {
      instrument(function, variants[0], function.hasLocalLinkage(), is_called_unseen(function));
    }
  }

  void instrument(llvm::Function& function, MechanismSet mechanisms, bool is_local,
                  bool is_called_unseen) {
    const bool traces = (mechanisms & kTracePaths) != 0;
    // With FC alone, functions have next to no other code, and positions would cost time. Code that
    // is inlined later, into others or here, would need more than starts of blocks. Returns are not
    // copied: as the block where an activation stopped is known, blocks that return need no flags,
    // and nothing would say which of them ran in calls that have returned.
    const bool places_blocks =
        !traces && (mechanisms & (kCoverBlocks | kCoverCalls)) != 0 && !unit_.optimises_later;
    const bool traces_late = traces && !unit_.options.legacy_names && !unit_.optimises_later;
    if (traces_late && is_optimised_) separate_returns(function);
    collect_source_lines(function);
    FlowRecord flow = flow_of(function, is_local);
    insert_coverage(function, mechanisms, unit_.options, is_called_unseen);
    if (traces) trace(function, flow);
    if (places_blocks) insert_block_positions(flow.blocks(), flow.key());
    append(flow, function);
  }

  void make_variants(llvm::Function& function, std::vector<MechanismSet> variants) {
    const std::string reason = reason_against_variants(function, unit_);
    if (!reason.empty()) {
      warn(function, "it has variants and " + reason);
      skip(function, "variants of a function that " + reason);
      append_flow(function);
      return;
    }
    const bool is_local = function.hasLocalLinkage();
    const bool is_unseen = is_called_unseen(function);
    for (const Variant& variant : replicate(function, std::move(variants), unit_))
      instrument(*variant.function, variant.mechanisms, is_local, is_unseen);
  }

  void trace(llvm::Function& function, FlowRecord& flow) {
    separate_unsplittable_edges(function);
    const FlowGraph graph = flow_graph(function, is_optimised_);
    // An explicit limit excludes functions; otherwise long paths are cut. Without optimisation, the
    // metadata equals csi-cc's.
    // After longjmp, registers may have stale values. Readers of csi-cc's variables expect their
    // values from the entry on.
    const bool late = is_optimised_ && !unit_.options.legacy_names && !calls_setjmp(function);
    NumberingOptions options{.most_paths = unit_.options.most_paths,
                             .stores_at_exit = !is_optimised_,
                             .numbers_prefixes = late};
    constexpr std::uint64_t kCutAbove = std::uint64_t{1} << 48U;
    if (options.most_paths == kMostPaths) options.cut_above = kCutAbove;
    const NumberedGraph numbered = number_paths(graph.flow, options);
    const std::uint64_t first_id = next_id_;
    next_id_ += numbered.edges.empty() ? numbered.discovered : numbered.nodes.size();
    if (numbered.edges.empty()) {
      warn(function, "it has more than " + std::to_string(unit_.options.most_paths) + " paths");
      skip(function, "too many paths", numbered.path_count);
      return;
    }
    const std::uint64_t key = function_key(function, numbered, first_id);
    std::vector<llvm::BasicBlock*> block_of_node;
    if (const std::string reason = split_edges(graph, numbered, block_of_node); !reason.empty()) {
      warn(function, reason);
      skip(function, reason);
      return;
    }
    const TracedFunction traced{
        function, numbered, block_of_node, first_id, key, unit_.optimises_later, late, late};
    const std::string record = function_record_text(traced, unit_.options);
    const llvm::DenseSet<const llvm::Instruction*> stores = insert_path_code(traced, unit_.options);
    append_path_entry(function, path_entry(function, numbered, block_of_node, first_id, stores),
                      key, record);
    flow.add_nodes(block_of_node, first_id, key);
  }

  llvm::Module& module_;
  const TracedUnit& unit_;
  bool is_optimised_;
  struct Filtered {
    std::string first;
    std::set<std::string> functions;
  };
  // By the sets of mechanisms before and after.
  std::map<std::pair<MechanismSet, MechanismSet>, Filtered> filtered_;
  std::set<std::pair<std::string, std::string>> warned_;  // the function and why
  std::uint64_t next_id_ = 0;  // ids of blocks are unique in an object file
};

// Sets an option of the code generator, which runs later in this process, unless the user does.
void set_option(llvm::StringRef name, llvm::StringRef value) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(name);
  if (found != options.end() && found->second->getNumOccurrences() == 0)
    found->second->addOccurrence(0, name, value);
}

class PathTracingPass : public llvm::PassInfoMixin<PathTracingPass> {
 public:
  explicit PathTracingPass(llvm::OptimizationLevel level) : level_(level) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    if (!traced_unit().is_active) return llvm::PreservedAnalyses::all();
    traced_unit().is_active = false;
    if (!llvm::Triple(module.getTargetTriple()).isOSBinFormatELF())
      llvm::report_fatal_error("telltale: --trace needs a target with ELF files", false);
    const bool is_optimised = level_ != llvm::OptimizationLevel::O0;
    // Without optimisation they cost little, and programs are built to be debugged.
    const bool reduces = is_optimised && traced_unit().options.line_tables;
    const llvm::DenseSet<const llvm::DILocalVariable*> variables =
        reduces ? declared_variables(module) : llvm::DenseSet<const llvm::DILocalVariable*>();
    PathTracing(module, traced_unit(), is_optimised).run();
    remove_source_lines(module);
    remove_source_notes(module);
    if (!traced_unit().optimises_later) {
      print_positions(llvm::Triple(module.getTargetTriple()));
      replace_positions_by_probes(module);
    }
    // The code generator would merge equal ends of blocks, for example what restores registers
    // before a return: no position could say which of the blocks runs.
    set_option("enable-tail-merge", "false");
    // The code of a back edge is in a separate block, which becomes the end of the loop. With its
    // default cost model, LLVM often places it so that each iteration needs one more jump.
    if (is_optimised) set_option("force-precise-rotation-cost", "true");
    if (reduces) {
      remove_variables_and_types(module, variables);
      // It would follow each value through registers, in case that a variable has it. The other
      // algorithm looks at variables first.
      set_option("experimental-debug-variable-locations", "false");
    }
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }  // NOLINT(readability-identifier-naming): LLVM's

 private:
  llvm::OptimizationLevel level_;
};

class LineMarkingPass : public llvm::PassInfoMixin<LineMarkingPass> {
 public:
  explicit LineMarkingPass(bool is_optimised) : is_optimised_(is_optimised) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) const {
    if (!traced_unit().is_active) return llvm::PreservedAnalyses::all();
    for (llvm::Function& function : module)
      if (function.isPresplitCoroutine()) correct_coroutine_lines(function);
    // What the Sampler inserts has lines of the code before which it is inserted. Among these are
    // lines that the code does not run, for example that of `else` after the first branch.
    mark_source_lines(module, is_optimised_, current_unit().active);
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }  // NOLINT(readability-identifier-naming): LLVM's

 private:
  bool is_optimised_;
};

}  // namespace

TracedUnit& traced_unit() {
  static TracedUnit the_unit;
  return the_unit;
}

void register_path_tracing(llvm::PassBuilder& builder) {
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& manager, llvm::OptimizationLevel level) {
        manager.addPass(LineMarkingPass(level != llvm::OptimizationLevel::O0));
      });
#if LLVM_VERSION_MAJOR > 19
  builder.registerOptimizerLastEPCallback(
      [](llvm::ModulePassManager& manager, llvm::OptimizationLevel level,
         llvm::ThinOrFullLTOPhase) { manager.addPass(PathTracingPass(level)); });
#else
  builder.registerOptimizerLastEPCallback(
      [](llvm::ModulePassManager& manager, llvm::OptimizationLevel level) {
        manager.addPass(PathTracingPass(level));
      });
#endif
}

}  // namespace telltale::instrument
