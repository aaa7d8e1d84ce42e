// The pass: counts what the AST side planted, and writes down what the counters mean.
#include "transform/sampler_pass.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/indirect_call_targets.h"
#include "codegen/cfg_writer.h"
#include "codegen/counters.h"
#include "codegen/implications_writer.h"
#include "transform/access_instrumentation.h"
#include "transform/blast_markers.h"
#include "transform/exit_hooks.h"
#include "transform/inlining.h"
#include "transform/region_sampling.h"
#include "transform/site_sampling.h"

namespace telltale::instrument {
namespace {

// Functions of the C library that LLVM does not know, and through which no instrumented code is
// reached.
constexpr std::array<std::string_view, 22> kWeightlessLibraryFunctions = {"__errno_location",
                                                                          "__ctype_b_loc",
                                                                          "__ctype_tolower_loc",
                                                                          "__ctype_toupper_loc",
                                                                          "__assert_fail",
                                                                          "getopt",
                                                                          "getopt_long",
                                                                          "exit",
                                                                          "abort",
                                                                          "_exit",
                                                                          "__isoc99_sscanf",
                                                                          "__isoc99_fscanf",
                                                                          "__isoc99_scanf",
                                                                          "fileno",
                                                                          "isatty",
                                                                          "__uflow",
                                                                          "__overflow",
                                                                          "strerror",
                                                                          "signal",
                                                                          "sigaction",
                                                                          "setlocale",
                                                                          "localtime"};
// Library functions that call back.
constexpr std::array<std::string_view, 6> kLibraryFunctionsWithCallbacks = {
    "qsort", "bsearch", "qsort_r", "lfind", "lsearch", "atexit"};

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& names, llvm::StringRef name) {
  for (const std::string_view one : names) {
    if (name == llvm::StringRef(one)) return true;
  }
  return false;
}

// Which callees pass no site: the rules of docs/formats/sampler.md, in their order.
class CalleeWeights {
 public:
  CalleeWeights(llvm::Module& module, const TranslationUnit& unit) : options_(unit.options) {
    for (const llvm::Function& function : module) {
      if (function_of(function, unit) != nullptr) weighty_.insert(&function);
    }
    // A function without sites that calls a weighty one is weighty, and so on upwards.
    bool grows = true;
    while (grows) {
      grows = false;
      for (const llvm::Function& function : module) {
        if (function.isDeclaration() || weighty_.contains(&function) ||
            !calls_weighty(function, unit))
          continue;
        weighty_.insert(&function);
        grows = true;
      }
    }
  }

  [[nodiscard]] bool is_weightless(const llvm::Function& callee) const {
    if (weighty_.contains(&callee)) return false;
    if (!callee.isDeclaration()) return !options_.assume_weighty_interns;
    const llvm::StringRef name = callee.getName();
    if (weightless_by_pragma().contains(name.str())) return true;
    const llvm::TargetLibraryInfoImpl library(llvm::Triple(callee.getParent()->getTargetTriple()));
    llvm::LibFunc known{};
    const bool in_library =
        (library.getLibFunc(name, known) || is_one_of(kWeightlessLibraryFunctions, name)) &&
        !is_one_of(kLibraryFunctionsWithCallbacks, name);
    if (in_library) return !options_.assume_weighty_libraries;
    return !options_.assume_weighty_externs;
  }

  // Of a call through a pointer.
  [[nodiscard]] bool is_weightless(const llvm::CallBase& call, const TranslationUnit& unit) const {
    if (!options_.use_points_to) return false;
    const std::optional<CallTargets> callees = find_call_targets(call, unit);
    return callees && std::all_of(callees->begin(), callees->end(),
                                  [&](const llvm::Function* one) { return is_weightless(*one); });
  }

 private:
  bool calls_weighty(const llvm::Function& function, const TranslationUnit& unit) const {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || call->isInlineAsm() || mark_of(*call, unit) != nullptr) continue;
      const auto* const callee =
          llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
      if (callee == nullptr ? !is_weightless(*call, unit)
                            : !callee->isIntrinsic() && !is_weightless(*callee))
        return true;
    }
    return false;
  }

  const Options& options_;
  std::set<const llvm::Function*> weighty_;
};

// Calls through pointers that pass no site are told to whoever samples.
void annotate_weightless_calls(llvm::Module& module, const TranslationUnit& unit,
                               const CalleeWeights& weights) {
  if (!unit.options.use_points_to) return;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || !call->isIndirectCall()) continue;
      if (weights.is_weightless(*call, unit))
        call->addFnAttr(llvm::Attribute::get(call->getContext(), kWeightlessCall));
    }
  }
}

// Marks in what is no function that is looked at: a default argument's, where one calls that is
// not.
void erase_stray_marks(llvm::Module& module, const TranslationUnit& unit) {
  for (llvm::Function& function : module) {
    std::vector<llvm::CallInst*> marks;
    bool starts = false;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const Mark* const mark = mark_of(instruction, unit);
      if (mark == nullptr) continue;
      starts = starts || mark->is_function_start;
      marks.push_back(llvm::cast<llvm::CallInst>(&instruction));
    }
    if (starts) continue;
    for (llvm::CallInst* const call : marks) {
      if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(call->getArgOperand(1));
      call->eraseFromParent();
    }
  }
}

// Functions that do nothing but tell their name count for nothing.
void lower_marks_without_sites(llvm::Module& module, const TranslationUnit& unit) {
  for (llvm::Function& function : module) {
    std::vector<llvm::CallInst*> empty;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const Mark* const mark = mark_of(instruction, unit);
      if (mark != nullptr && mark->sites.empty())
        empty.push_back(llvm::cast<llvm::CallInst>(&instruction));
    }
    for (llvm::CallInst* const call : empty) {
      if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(call->getArgOperand(1));
      if (mark_of(*call, unit)->is_reset) {
        llvm::IRBuilder<> builder(call);
        builder.CreateCall(
            module.getOrInsertFunction("telltale_sampler_reset_v1", builder.getVoidTy()));
      }
      call->eraseFromParent();
    }
  }
}

// Sites that have code get their rows, in the order of the source.
std::array<unsigned, kSchemes> assign_rows(llvm::Module& module, TranslationUnit& unit) {
  std::vector<bool> planted(unit.marks.size());
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (const Mark* const mark = mark_of(instruction, unit); mark != nullptr)
        planted[llvm::cast<llvm::ConstantInt>(
                    llvm::cast<llvm::CallInst>(instruction).getArgOperand(0))
                    ->getZExtValue()] = true;
    }
  }
  std::array<unsigned, kSchemes> rows{};
  for (std::size_t i = 0; i < planted.size(); ++i) {
    if (!planted[i]) continue;
    for (const unsigned site : unit.marks[i].sites)
      unit.sites[site].row =
          static_cast<int>(rows[static_cast<std::size_t>(unit.marks[i].scheme)]++);
    for (const unsigned site : unit.marks[i].uncounted_sites)
      unit.sites[site].row =
          static_cast<int>(rows[static_cast<std::size_t>(unit.marks[i].scheme)]++);
  }
  return rows;
}

// The most special line counts, of those the last.
void apply_weights(TranslationUnit& unit) {
  for (Site& site : unit.sites) {
    int best = -1;
    for (const Scale& scale : unit.options.scales) {
      const bool is_any = scale.function == "*";
      if (!is_any && scale.function != unit.functions[static_cast<std::size_t>(site.function)].name)
        continue;
      if (scale.node && static_cast<int>(*scale.node) != site.cfg_node) continue;
      const int special = (is_any ? 0 : 1) + (scale.node ? 1 : 0);
      if (special < best) continue;
      best = special;
      site.weight = scale.weight;
    }
  }
}

std::string site_table_text(const TranslationUnit& unit,
                            const std::array<unsigned, kSchemes>& rows) {
  std::array<std::vector<const Site*>, kSchemes> by_row;
  for (std::size_t i = 0; i < kSchemes; ++i) by_row[i].resize(rows[i]);
  for (const Site& site : unit.sites) {
    if (site.row >= 0)
      by_row[static_cast<std::size_t>(site.scheme)][static_cast<std::size_t>(site.row)] = &site;
  }
  std::string out;
  for (std::size_t i = 0; i < kSchemes; ++i) {
    if (!unit.options.schemes[i]) continue;
    out += "<sites unit=\"" + signature_hex(unit) + "\" scheme=\"" +
           scheme_info(static_cast<Scheme>(i)).name + "\">\n";
    for (const Site* const site : by_row[i]) {
      out += site->file + "\t" + std::to_string(site->line) + "\t" +
             unit.functions[static_cast<std::size_t>(site->function)].name + "\t" +
             std::to_string(site->cfg_node);
      for (const std::string& field : site->fields) out += "\t" + field;
      out += "\n";
    }
    out += "</sites>\n";
  }
  return out;
}

// Through assembly, as this is how a section gets no SHF_ALLOC: it takes part in no run, and
// `strip` removes it.
void append_section(llvm::Module& module, llvm::StringRef name, llvm::StringRef text) {
  std::string assembly = "\t.pushsection " + name.str() + ",\"\",@progbits\n";
  constexpr std::size_t kPiece = 4096;
  for (; !text.empty(); text = text.drop_front(std::min(kPiece, text.size()))) {
    assembly += "\t.ascii \"";
    for (const char c : text.take_front(kPiece)) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\' || byte < ' ' || byte > '~') {
        assembly += '\\';
        for (const int shift : {6, 3, 0}) assembly += static_cast<char>('0' + (byte >> shift & 7));
      } else {
        assembly += c;
      }
    }
    assembly += "\"\n";
  }
  module.appendModuleInlineAsm(assembly + "\t.popsection\n");
}

// Counts how often a function is inside itself, and gives that number to its mark.
void insert_reentry_counter(llvm::Function& function, const TranslationUnit& unit) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const Mark* const mark = mark_of(instruction, unit);
    if (mark == nullptr || mark->scheme != Scheme::kFunReentries) continue;
    auto* const call = llvm::cast<llvm::CallInst>(&instruction);
    llvm::Module& module = *function.getParent();
    llvm::IRBuilder<> builder(call);
    llvm::Type* const word = builder.getInt64Ty();
    auto* const depth =
        new llvm::GlobalVariable(module, word, false, llvm::GlobalValue::InternalLinkage,
                                 llvm::ConstantInt::get(word, 0), "telltale.sampler.depth");
    llvm::Value* const before =
        builder.CreateAtomicRMW(llvm::AtomicRMWInst::Add, depth, builder.getInt64(1),
                                llvm::MaybeAlign(8), llvm::AtomicOrdering::Monotonic);
    llvm::FunctionCallee counted = module.getOrInsertFunction(
        std::string(kMarkPrefix) + "depth", builder.getVoidTy(), builder.getInt32Ty(), word);
    llvm::cast<llvm::Function>(counted.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
    builder.CreateCall(counted,
                       {call->getArgOperand(0), builder.CreateAdd(before, builder.getInt64(1))});
    for (llvm::BasicBlock& block : function) {
      llvm::Instruction* const end = block.getTerminator();
      if (!llvm::isa<llvm::ReturnInst>(end) && !llvm::isa<llvm::ResumeInst>(end)) continue;
      builder.SetInsertPoint(end);
      builder.CreateAtomicRMW(llvm::AtomicRMWInst::Sub, depth, builder.getInt64(1),
                              llvm::MaybeAlign(8), llvm::AtomicOrdering::Monotonic);
    }
    call->eraseFromParent();
    return;
  }
}

// A global that only we look at need not exist: a header may declare what no library has.
void weaken_globals_used_by_marks_only(llvm::Module& module, const TranslationUnit& unit) {
  for (llvm::GlobalVariable& global : module.globals()) {
    if (!global.isDeclaration() || global.use_empty() || !global.hasExternalLinkage()) continue;
    bool only_marks = true;
    for (const llvm::User* const user : global.users()) {
      const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(user);
      only_marks = only_marks && instruction != nullptr && mark_of(*instruction, unit) != nullptr;
    }
    if (only_marks) global.setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
  }
}

void print_statistics(const TranslationUnit& unit, const std::array<unsigned, kSchemes>& rows,
                      const SamplingStatistics& facts) {
  llvm::errs() << "sampler: " << unit.source << ":";
  for (std::size_t i = 0; i < kSchemes; ++i) {
    if (unit.options.schemes[i])
      llvm::errs() << " " << scheme_info(static_cast<Scheme>(i)).name << " " << rows[i];
  }
  if (unit.options.sample) {
    llvm::errs() << "; functions " << facts.functions << ", of them without copies "
                 << facts.without_copies << "; regions " << facts.regions
                 << ", of them without sites " << facts.weightless_regions << ", with one "
                 << facts.singleton_regions;
  }
  llvm::errs() << "\n";
}

void instrument(llvm::Module& module, TranslationUnit& unit, llvm::OptimizationLevel level) {
  erase_stray_marks(module, unit);
  const std::array<unsigned, kSchemes> rows = assign_rows(module, unit);
  const std::string graph = assign_cfg_nodes(module, unit);
  const std::string sites = site_table_text(unit, rows);
  if (unit.options.sample) apply_weights(unit);
  weaken_globals_used_by_marks_only(module, unit);
  for (llvm::Function& function : module) insert_reentry_counter(function, unit);
  lower_marks_without_sites(module, unit);
  if (unit.options.add_blast_markers) add_blast_markers(module, unit);
  if (unit.options.sample && unit.options.uses_region_sampling())
    inline_small_functions(module, unit, level);
  const CalleeWeights weights(module, unit);
  annotate_weightless_calls(module, unit, weights);
  Counters counters(module, unit, rows);
  SamplingStatistics statistics;
  const IsWeightless weightless = [&](const llvm::Function& callee) {
    return weights.is_weightless(callee);
  };
  std::optional<AcyclicFunctions> acyclic_functions;
  if (unit.options.sample && unit.options.uses_region_sampling())
    acyclic_functions.emplace(module, unit, weightless);
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) {
    if (function_of(function, unit) != nullptr) functions.push_back(&function);
  }
  for (llvm::Function* const function : functions) {
    if (unit.options.has_access_scheme()) instrument_accesses(*function, unit, counters);
    if (acyclic_functions.has_value()) {
      sample_by_regions(*function, unit, counters, weightless, *acyclic_functions, statistics);
    } else if (unit.options.sample) {
      sample_sites(*function, unit, counters, weightless, statistics);
    } else {
      observe_all_sites(*function, unit, counters);
    }
  }
  if (acyclic_functions.has_value()) acyclic_functions->retarget_calls();
  insert_exit_hooks(module);
  for (const llvm::Function* const function : functions) {
    // Better no code than wrong code.
    if (llvm::verifyFunction(*function, &llvm::errs()))
      llvm::report_fatal_error(llvm::Twine("telltale: instrumented code is not sound: ") +
                               function->getName());
  }
  counters.emit_registration();
  append_section(module, ".debug_site_info", sites);
  append_section(module, ".debug_sampler_cfg", graph);
  if (unit.options.implications)
    append_section(module, ".debug_sampler_implications", write_implications(unit));
  if (unit.options.dataflow)
    append_section(module, ".debug_sampler_dataflow",
                   "*\tdataflow\t0.2\n" + signature_hex(unit) + "\n" + unit.dataflow);
  if (unit.options.show_stats) print_statistics(unit, rows, statistics);
}

void remove_mark_functions(llvm::Module& module) {
  std::vector<llvm::Function*> unused;
  for (llvm::Function& function : module) {
    if (function.getName().starts_with(kMarkPrefix) && function.use_empty())
      unused.push_back(&function);
  }
  for (llvm::Function* const function : unused) function->eraseFromParent();
}

class SamplerPass : public llvm::PassInfoMixin<SamplerPass> {
 public:
  explicit SamplerPass(llvm::OptimizationLevel level) : level_(level) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    if (!current_unit().active) return llvm::PreservedAnalyses::all();
    current_unit().active = false;  // once a module
    instrument(module, current_unit(), level_);
    remove_mark_functions(module);
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

std::set<std::string, std::less<>>& weightless_by_pragma() {
  static std::set<std::string, std::less<>> names;
  return names;
}

}  // namespace telltale::instrument

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "telltale-sampler", "1",
          [](llvm::PassBuilder& builder) { telltale::instrument::register_passes(builder); }};
}
