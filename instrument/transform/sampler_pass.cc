#include "transform/sampler_pass.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Verifier.h>
#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <optional>

#include "analysis/callee_weights.h"
#include "analysis/ir_marks.h"
#include "codegen/cfg_writer.h"
#include "codegen/codegen.h"
#include "codegen/implications_writer.h"
#include "codegen/registration.h"
#include "codegen/site_table_writer.h"
#include "source_function.h"
#include "transform/access_instrumentation.h"
#include "transform/blast_markers.h"
#include "transform/exit_hooks.h"
#include "transform/inlining.h"
#include "transform/mark_preparation.h"
#include "transform/region_sampling.h"
#include "transform/site_sampling.h"

namespace telltale::instrument {
namespace {

void print_statistics(const TranslationUnit& unit, const std::array<unsigned, kSchemeCount>& rows,
                      const SamplingStatistics& facts) {
  llvm::errs() << "sampler: " << unit.source << ":";
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    if (unit.options.schemes[i])
      llvm::errs() << " " << scheme_name(static_cast<Scheme>(i)) << " " << rows[i];
  }
  if (unit.options.sample) {
    llvm::errs() << "; functions " << facts.functions << ", of them without copies "
                 << facts.without_copies << "; regions " << facts.regions
                 << ", of them without sites " << facts.weightless_regions << ", with one "
                 << facts.singleton_regions;
  }
  llvm::errs() << "\n";
}

// Replaces all marks of `functions`.
void lower_marks(llvm::Module& module, const std::vector<llvm::Function*>& functions,
                 const CalleeWeights& weights, Codegen& codegen, SamplingStatistics& statistics) {
  const TranslationUnit& unit = codegen.tables.unit();
  const IsWeightless is_weightless = [&](const llvm::Function& callee) {
    return weights.is_weightless(callee);
  };
  std::optional<AcyclicFunctions> acyclic_functions;
  if (unit.options.sample && unit.options.uses_region_sampling())
    acyclic_functions.emplace(module, unit, is_weightless);
  for (llvm::Function* const function : functions) {
    if (unit.options.has_access_scheme()) instrument_accesses(*function, unit, codegen);
    if (acyclic_functions.has_value()) {
      sample_by_regions(*function, unit, codegen, is_weightless, *acyclic_functions, statistics);
    } else if (unit.options.sample) {
      sample_sites(*function, unit, codegen, is_weightless, statistics);
    } else {
      observe_all_sites(*function, unit, codegen);
    }
  }
  if (acyclic_functions.has_value()) acyclic_functions->retarget_calls();
}

void append_sections(llvm::Module& module, const TranslationUnit& unit, const std::string& sites,
                     const std::string& cfg) {
  append_section(module, ".debug_site_info", sites);
  append_section(module, ".debug_sampler_cfg", cfg);
  if (unit.options.implications)
    append_section(module, ".debug_sampler_implications", write_implications(unit));
  if (unit.options.dataflow) {
    append_section(module, ".debug_sampler_dataflow",
                   "*\tdataflow\t0.2\n" + signature_hex(unit) + "\n" + unit.dataflow);
  }
}

// The order of the steps matters:
// - Stray marks are erased first: they get no rows.
// - Rows and CFG nodes describe the code as clang emitted it. They are assigned before anything is
//   inserted, inlined or cloned; the tables' texts and the weights need both.
// - Function-start marks tell which function the CFG is of. They are lowered after that, and before
//   CalleeWeights, to which a function with nothing but a start mark is weightless.
// - Inlining precedes CalleeWeights and AcyclicFunctions, which hold pointers to functions, and
//   cloning, after which functions are too large to inline.
// - Access hooks precede sampling, which clones the marks that they leave.
// - Calls are retargeted when all clones exist.
// - The registration is emitted last: it lists all counters, tallies and countdowns.
void instrument(llvm::Module& module, TranslationUnit& unit, llvm::OptimizationLevel level) {
  erase_stray_marks(module, unit);
  const std::array<unsigned, kSchemeCount> rows = assign_rows(module, unit);
  const std::string cfg = assign_cfg_nodes(module, unit);
  const std::string sites = write_site_tables(unit, rows);
  if (unit.options.sample) apply_weights(unit);
  weaken_globals_of_marks(module, unit);
  drop_promises_about_memory(module, unit);
  insert_reentry_counters(module, unit);
  lower_marks_without_sites(module, unit);
  if (unit.options.add_blast_markers) add_blast_markers(module, unit);
  if (unit.options.sample && unit.options.uses_region_sampling())
    inline_small_functions(module, unit, level);

  const CalleeWeights weights(module, unit);
  if (unit.options.use_points_to) annotate_weightless_calls(module, weights);
  Codegen codegen(module, unit, rows);
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) {
    if (function_of(function, unit) != nullptr) functions.push_back(&function);
  }
  SamplingStatistics statistics;
  lower_marks(module, functions, weights, codegen, statistics);
  insert_exit_hooks(module);
  for (const llvm::Function* const function : functions) {
    // Abort rather than emit invalid IR.
    if (llvm::verifyFunction(*function, &llvm::errs()))
      llvm::report_fatal_error(
          llvm::Twine("telltale: the instrumented code fails LLVM's verifier: ") +
          function->getName());
  }
  codegen.cold_observers.finish();
  emit_registration(codegen.tables, codegen.countdowns, codegen.first_executions);
  append_sections(module, unit, sites, cfg);
  erase_mark_declarations(module);
  // Path tracing, which reads the notes, removes them otherwise.
  if (!unit.is_traced) remove_source_notes(module);
  if (unit.options.show_stats) print_statistics(unit, rows, statistics);
}

class SamplerPass : public llvm::PassInfoMixin<SamplerPass> {
 public:
  explicit SamplerPass(llvm::OptimizationLevel level) : level_(level) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    if (!current_unit().active) return llvm::PreservedAnalyses::all();
    current_unit().active = false;
    instrument(module, current_unit(), level_);
    if (current_unit().drop_debug_info) llvm::StripDebugInfo(module);
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }  // NOLINT(readability-identifier-naming): LLVM's

 private:
  llvm::OptimizationLevel level_;
};

}  // namespace

void register_passes(llvm::PassBuilder& builder) {
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& manager, llvm::OptimizationLevel level) {
        manager.addPass(SamplerPass(level));
      });
}

}  // namespace telltale::instrument

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "telltale-sampler", "1",
          [](llvm::PassBuilder& builder) { telltale::instrument::register_passes(builder); }};
}
