#include "path_tracing/coverage_code.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/csi/wire.h"
#include "path_tracing/frame_variables.h"
#include "path_tracing/path_metadata.h"
#include "source_function.h"

namespace telltale::instrument {
namespace {

struct Kind {
  MechanismSet mechanism;
  const char* name;     // of metadata and labels
  const char* section;  // of the published format
  const char* local;    // variable of the frame; null: none
  const char* type;     // of an element, in DWARF
};
constexpr Kind kFunctions = {kCoverFunctions, "FC", ".debug_FC", nullptr, "__fc_bool"};
constexpr Kind kCalls = {kCoverCalls, "CC", ".debug_CC", "__CC_arr", "__cc_bool"};
constexpr Kind kBlocks = {kCoverBlocks, "BBC", ".debug_BBC", "__BBC_arr", "__bbc_bool"};

bool is_call_site(const llvm::Instruction& instruction) {
  const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call != nullptr && !llvm::isa<llvm::IntrinsicInst>(call) &&
         !llvm::isa<llvm::CallBrInst>(call);
}

// After a call that must be a jump nothing of the caller runs.
bool can_probe(const llvm::Instruction& call) {
  const auto* const direct = llvm::dyn_cast<llvm::CallInst>(&call);
  return direct == nullptr || !direct->isMustTailCall();
}

std::string callee_name(const llvm::Instruction& call) {
  const auto callee = callee_of(llvm::cast<llvm::CallBase>(call));
  return callee ? callee->symbol.str() : "?";
}

// Names of global arrays have the source's path and the function, as csi-cc spells them.
std::string global_name(const llvm::Function& function, const Kind& kind) {
  const llvm::DISubprogram* const subprogram = function.getSubprogram();
  std::string name = subprogram != nullptr && subprogram->getFile() != nullptr
                         ? subprogram->getFile()->getFilename().str()
                         : function.getParent()->getModuleIdentifier();
  for (char& c : name) {
    if (!llvm::isAlnum(c) && c != '_') c = '_';
  }
  // Variants of a function share one array.
  std::string symbol(csi::without_variant(function.getName()));
  // Assembly cannot name symbols with such characters.
  for (char& c : symbol) {
    if (static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\') c = '_';
  }
  return std::string("__") + kind.name + "_arr_" + name + "_" + symbol;
}

// What a mechanism can observe in a function.
struct Observed {
  llvm::BasicBlock* block = nullptr;
  llvm::Instruction* call = nullptr;  // of CC
  std::uint32_t probe = kNoProbe;     // number of its flag
  static constexpr std::uint32_t kNoProbe = 0xFFFFFFFF;
};

class Coverage {
 public:
  Coverage(llvm::Function& function, const TraceOptions& options, bool is_called_unseen)
      : function_(function),
        module_(*function.getParent()),
        options_(options),
        is_called_unseen_(is_called_unseen) {
    const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
    const llvm::SmallPtrSet<llvm::BasicBlock*, 16> reached(order.begin(), order.end());
    for (llvm::BasicBlock& block : function) {
      if (!reached.contains(&block)) continue;
      index_[&block] = static_cast<std::uint32_t>(blocks_.size());
      blocks_.push_back(&block);
    }
    find_graph();
  }

  // All mechanisms are described before any code is inserted.
  void run(MechanismSet mechanisms) {
    std::vector<std::pair<const Kind*, std::vector<Observed>>> all;
    for (const Kind* const kind : {&kBlocks, &kCalls, &kFunctions}) {
      if ((mechanisms & kind->mechanism) == 0) continue;
      std::vector<Observed> observed = choose(*kind);
      // The blocks of callers tell whether other functions ran.
      if (kind == &kBlocks && is_called_unseen_ && may_leave_unprobed(observed))
        mechanisms |= kCoverFunctions;
      std::uint32_t probes = 0;
      for (Observed& each : observed)
        if (each.probe != Observed::kNoProbe) each.probe = probes++;
      if (observed.empty()) continue;
      describe(*kind, observed, probes);
      if (probes != 0) all.emplace_back(kind, std::move(observed));
    }
    for (const auto& [kind, observed] : all) insert(*kind, observed);
  }

 private:
  void find_graph() {
    const llvm::DominatorTree dominators(function_);
    const llvm::LoopInfo loops(dominators);
    const llvm::BranchProbabilityInfo probabilities(function_, loops);
    const llvm::BlockFrequencyInfo frequencies(function_, probabilities, loops);
    const auto entry =
        static_cast<double>(frequencies.getBlockFreq(blocks_.front()).getFrequency());
    for (llvm::BasicBlock* const block : blocks_) {
      std::vector<std::uint32_t> successors;
      for (const llvm::BasicBlock* const successor : llvm::successors(block)) {
        const std::uint32_t known = index_.lookup(successor);
        if (!llvm::is_contained(successors, known)) successors.push_back(known);
      }
      graph_.successors.push_back(std::move(successors));
      graph_.may_stop.push_back(!options_.only_complete_runs ||
                                llvm::isa<llvm::ReturnInst>(block->getTerminator()));
      const auto frequency = static_cast<double>(frequencies.getBlockFreq(block).getFrequency());
      graph_.cost.push_back(std::max(frequency / std::max(entry, 1.0), 1e-5));
    }
  }

  [[nodiscard]] ProbeStyle style() const {
    return options_.coverage_level == 3 ? ProbeStyle::kExact : options_.coverage_style;
  }

  std::vector<Observed> choose(const Kind& kind) {
    if (kind.mechanism == kCoverFunctions)
      return {{.block = blocks_.front(), .call = nullptr, .probe = 0}};
    return kind.mechanism == kCoverCalls ? choose_calls() : choose_blocks();
  }

  std::vector<Observed> choose_blocks() {
    ProbeProblem problem = graph_;
    problem.wanted.assign(blocks_.size(), true);
    problem.can_probe = problem.wanted;
    std::vector<bool> probes =
        place_probes(problem, options_.coverage_level == 0 ? ProbeStyle::kEvery : style());
    // Flags of landing pads cost no time, and tell whether calls were left by exceptions.
    for (std::size_t i = 0; i < blocks_.size() && options_.coverage_level < 3; ++i)
      probes[i] = probes[i] || blocks_[i]->isLandingPad();
    std::vector<Observed> observed;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      observed.push_back(
          {.block = blocks_[i], .call = nullptr, .probe = probes[i] ? 0 : Observed::kNoProbe});
    }
    return observed;
  }

  // Whether an activation may be left before it passes a probe: at an end of the function, or in a
  // call, by an exception or longjmp.
  [[nodiscard]] bool may_leave_unprobed(const std::vector<Observed>& blocks) const {
    std::vector<bool> is_met;
    for (const Observed& block : blocks) is_met.push_back(block.probe != Observed::kNoProbe);
    std::vector<std::uint32_t> pending;
    const auto meet = [&](std::uint32_t block) {
      if (!is_met[block]) pending.push_back(block);
      is_met[block] = true;
    };
    meet(0);
    while (!pending.empty()) {
      const std::uint32_t block = pending.back();
      pending.pop_back();
      const std::vector<std::uint32_t>& successors = graph_.successors[block];
      if (successors.empty() || llvm::any_of(*blocks_[block], is_call_site)) return true;
      for (const std::uint32_t successor : successors) meet(successor);
    }
    return false;
  }

  // From level 1 on, the first call of a block speaks for the others.
  std::vector<Observed> choose_calls() {
    std::vector<Observed> observed;
    ProbeProblem problem = graph_;
    problem.wanted.assign(blocks_.size(), false);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      for (llvm::Instruction& instruction : *blocks_[i]) {
        if (!is_call_site(instruction)) continue;
        observed.push_back({.block = blocks_[i], .call = &instruction});
        problem.wanted[i] = problem.wanted[i] || can_probe(instruction);
      }
    }
    problem.can_probe = problem.wanted;
    const std::vector<bool> probes =
        options_.coverage_level < 2 ? problem.wanted : place_probes(problem, style());
    std::vector<bool> has_probe(blocks_.size(), false);
    for (Observed& each : observed) {
      const std::uint32_t block = index_[each.block];
      if (!can_probe(*each.call) || !probes[block]) continue;
      if (options_.coverage_level > 0 && has_probe[block]) continue;
      has_probe[block] = true;
      each.probe = 0;
    }
    return observed;
  }

  void describe(const Kind& kind, const std::vector<Observed>& observed, std::uint32_t probes) {
    std::string text = "#" + function_.getName().str() + "|" + global_name(function_, kind) + "\n";
    std::uint32_t unprobed = 0;
    for (const Observed& each : observed) {
      if (kind.mechanism == kCoverFunctions) break;
      if (each.probe == Observed::kNoProbe) {
        text += "-" + std::to_string(++unprobed) + "|";
      } else {
        text += std::to_string(each.probe) + "|" + kind.name + std::to_string(each.probe);
      }
      if (each.call != nullptr) {
        const llvm::DebugLoc& location = each.call->getDebugLoc();
        text += "|" + std::to_string(location ? location.getLine() : 0) + "|" +
                callee_name(*each.call) + "\n";
      } else {
        const std::string lines = located_lines(*each.block);
        text += (lines.empty() ? "|NULL" : lines) + "\n";
      }
    }
    // The published sections leave out functions without probes.
    if (probes != 0) append_section_text(function_, kind.section, text);
    const std::string record = record_of(kind, observed, probes);
    keys_[kind.mechanism] = append_coverage_record(function_, record);
    counts_[kind.mechanism] = probes;
  }

  std::string record_of(const Kind& kind, const std::vector<Observed>& observed,
                        std::uint32_t probes) {
    std::string text =
        std::string("mechanism\t") + kind.name + "\nprobes\t" + std::to_string(probes) + "\n";
    std::vector<std::string> of_block(blocks_.size(), "-");
    std::string calls;
    for (const Observed& each : observed) {
      const std::string probe = each.probe == Observed::kNoProbe ? "-" : std::to_string(each.probe);
      const std::uint32_t block = index_[each.block];
      if (each.call == nullptr) {
        of_block[block] = probe;
        continue;
      }
      const llvm::DebugLoc& location = each.call->getDebugLoc();
      calls += "call\t" + std::to_string(block) + "\t" + probe + "\t" +
               std::to_string(location ? location.getLine() : 0) + "\t" +
               escaped_field(callee_name(*each.call)) + "\n";
    }
    std::string blocks;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks += "block\t" + std::to_string(i) + "\t" + of_block[i] + "\t";
      if (llvm::isa<llvm::ReturnInst>(blocks_[i]->getTerminator())) blocks += "r";
      if (llvm::isa<llvm::InvokeInst>(blocks_[i]->getTerminator())) blocks += "i";
      for (const std::uint32_t successor : graph_.successors[i])
        blocks += " " + std::to_string(successor);
      blocks += "\n";
    }
    // Beside a record of BBC, which has the lines, that of FC needs none.
    const bool has_lines = kind.mechanism != kCoverFunctions || !keys_.contains(kCoverBlocks);
    PathScopes scopes;
    return text + blocks + calls +
           scope_and_line_text(function_, has_lines ? blocks_ : std::vector<llvm::BasicBlock*>(),
                               false, scopes);
  }

  // The flag is an element of the array, or all of it.
  llvm::GlobalVariable* make_global(const Kind& kind, std::uint32_t probes, llvm::Type* type) {
    const std::string name = global_name(function_, kind);
    if (llvm::GlobalVariable* const known = module_.getGlobalVariable(name, true);
        known != nullptr && known->getValueType() == type)
      return known;
    // Functions of one name in several objects have arrays of their own, unless the linker keeps
    // only one of the functions.
    const bool is_shared = function_.hasComdat() && !function_.hasLocalLinkage();
    auto* const global = new llvm::GlobalVariable(
        module_, type, false,
        is_shared ? function_.getLinkage() : llvm::GlobalValue::ExternalLinkage,
        llvm::Constant::getNullValue(type), name);
    if (function_.hasLocalLinkage()) global->setLinkage(llvm::GlobalValue::InternalLinkage);
    add_note();
    global->setSection(csi::kCoverageSection);
    if (is_shared) global->setComdat(function_.getComdat());
    if (!global->hasLocalLinkage()) global->setVisibility(llvm::GlobalValue::HiddenVisibility);
    global->setDSOLocal(true);
    llvm::DISubprogram* const subprogram = function_.getSubprogram();
    if (subprogram != nullptr && subprogram->getUnit() != nullptr) {
      llvm::DIBuilder debug(module_, true, subprogram->getUnit());
      global->addDebugInfo(debug.createGlobalVariableExpression(
          subprogram->getUnit(), name, name, subprogram->getFile(), subprogram->getLine(),
          debug_type(debug, kind, kind.local == nullptr ? 0 : probes), global->hasLocalLinkage()));
      debug.finalize();
    }
    return global;
  }

  // A note of the program or library says where its flags are (wire.h), for the crash handler.
  void add_note() {
    constexpr const char* kName = "telltale_coverage_note";
    if (module_.getGlobalVariable(kName, true) != nullptr ||
        module_.getDataLayout().getPointerSize() != sizeof(std::int64_t))
      return;
    llvm::LLVMContext& context = module_.getContext();
    llvm::Type* const word = llvm::Type::getInt32Ty(context);
    llvm::Type* const distance = llvm::Type::getInt64Ty(context);
    std::string padded = csi::kNoteName;
    padded.resize(llvm::alignTo<4>(sizeof(csi::kNoteName)));
    llvm::Constant* const name = llvm::ConstantDataArray::getString(context, padded, false);
    auto* const type = llvm::StructType::get(
        context, {word, word, word, name->getType(), distance, distance}, true);
    auto* const note = new llvm::GlobalVariable(module_, type, true,
                                                llvm::GlobalValue::WeakODRLinkage, nullptr, kName);
    const auto distance_to = [&](const char* symbol) {
      llvm::Constant* const bound = bound_of_flags(symbol);
      return llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(bound, distance),
                                        llvm::ConstantExpr::getPtrToInt(note, distance));
    };
    note->setInitializer(llvm::ConstantStruct::get(
        type,
        {llvm::ConstantInt::get(word, sizeof(csi::kNoteName)), llvm::ConstantInt::get(word, 16),
         llvm::ConstantInt::get(word, csi::kCoverageNote), name,
         distance_to("__start_telltale_coverage"), distance_to("__stop_telltale_coverage")}));
    note->setSection(".note.telltale");
    note->setAlignment(llvm::Align(4));
    note->setComdat(module_.getOrInsertComdat(kName));
    note->setVisibility(llvm::GlobalValue::HiddenVisibility);
    note->setDSOLocal(true);
    llvm::appendToUsed(module_, {note});
  }

  // Weak: the linker may drop all flags.
  llvm::GlobalVariable* bound_of_flags(const char* symbol) {
    auto* const bound =
        new llvm::GlobalVariable(module_, llvm::Type::getInt8Ty(module_.getContext()), false,
                                 llvm::GlobalValue::ExternalWeakLinkage, nullptr, symbol);
    bound->setVisibility(llvm::GlobalValue::HiddenVisibility);
    bound->setDSOLocal(true);
    return bound;
  }

  static llvm::DIType* debug_type(llvm::DIBuilder& debug, const Kind& kind, std::uint32_t count) {
    llvm::DIType* const flag = debug.createBasicType(kind.type, 8, llvm::dwarf::DW_ATE_boolean);
    if (count == 0) return flag;
    return debug.createArrayType(std::uint64_t{8} * count, 8, flag,
                                 debug.getOrCreateArray({debug.getOrCreateSubrange(0, count)}));
  }

  llvm::AllocaInst* make_local(const Kind& kind, std::uint32_t probes) {
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    llvm::AllocaInst* const local =
        builder.CreateAlloca(frame_array_type(builder.getInt8Ty(), probes), nullptr, kind.local);
    builder.SetInsertPoint(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    declare_variable(function_, builder, local, kind.local,
                     [&](llvm::DIBuilder& debug) { return debug_type(debug, kind, probes); });
    builder.CreateMemSet(local, builder.getInt8(0), probes, llvm::Align(1), true);
    return local;
  }

  // Where the array is, for readers.
  void insert_array_record(const Kind& kind, llvm::GlobalVariable* global) {
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    // Position-independent code for 32-bit x86 has no immediate operand for an address.
    const bool is_symbol = llvm::Triple(module_.getTargetTriple()).getArch() == llvm::Triple::x86;
    const std::string text =
        std::string("\t.pushsection ") + csi::kRecordSection + ",\"?\",%progbits\n\t.long 17\n" +
        "\t.byte " + std::to_string(static_cast<unsigned>(csi::RecordKind::kCoverageArray)) +
        "\n\t.quad " + std::to_string(keys_[kind.mechanism]) + "\n" +
        address_directive(module_, is_symbol ? "${0:p}" : "${0:c}") + "\t.popsection";
    llvm::InlineAsm* const assembly = llvm::InlineAsm::get(
        llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false), text,
        is_symbol ? "^Ws" : "i", true);
    llvm::CallInst* const call = builder.CreateCall(assembly, {global});
    call->setDoesNotThrow();
    call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  }

  static llvm::Instruction* place_of(const Observed& each) {
    if (each.call == nullptr) return &*each.block->getFirstInsertionPt();
    auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(each.call);
    if (invoke == nullptr) return each.call->getNextNode();
    llvm::BasicBlock* normal = invoke->getNormalDest();
    if (normal->getSinglePredecessor() == nullptr)
      normal = llvm::SplitEdge(invoke->getParent(), normal);
    return &*normal->getFirstInsertionPt();
  }

  // The entry block's flag is set after the prologue, where the local arrays have been cleared.
  void insert(const Kind& kind, const std::vector<Observed>& observed) {
    const std::uint32_t probes = counts_[kind.mechanism];
    llvm::Type* const flag = llvm::Type::getInt8Ty(module_.getContext());
    llvm::Type* const type = kind.local == nullptr ? flag : llvm::ArrayType::get(flag, probes);
    llvm::GlobalVariable* const global = make_global(kind, probes, type);
    std::vector<std::pair<llvm::Instruction*, std::uint32_t>> places;
    for (const Observed& each : observed) {
      if (each.probe == Observed::kNoProbe) continue;
      const bool is_entry = each.call == nullptr && each.block == blocks_.front();
      places.emplace_back(is_entry ? nullptr : place_of(each), each.probe);
    }
    llvm::AllocaInst* const local = kind.local == nullptr ? nullptr : make_local(kind, probes);
    for (const auto& [place, probe] : places) {
      llvm::Instruction* before = place;
      if (before == nullptr) {
        before = &*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
        if (local != nullptr) before = after_clearing(local);
      }
      set_flag(before, type, local, global, probe);
    }
    insert_array_record(kind, global);
  }

  static llvm::Instruction* after_clearing(llvm::AllocaInst* local) {
    for (llvm::User* const user : local->users()) {
      if (auto* const clearing = llvm::dyn_cast<llvm::MemSetInst>(user))
        return clearing->getNextNode();
    }
    return local->getNextNode();
  }

  static void set_flag(llvm::Instruction* before, llvm::Type* type, llvm::AllocaInst* local,
                       llvm::GlobalVariable* global, std::uint32_t probe) {
    llvm::IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    const auto element = [&](llvm::Value* array) {
      return type->isArrayTy() ? builder.CreateConstInBoundsGEP2_32(type, array, 0, probe) : array;
    };
    if (local != nullptr) builder.CreateStore(builder.getInt8(1), element(local), true);
    llvm::StoreInst* const store = builder.CreateStore(builder.getInt8(1), element(global));
    store->setAtomic(llvm::AtomicOrdering::Unordered);
  }

  llvm::Function& function_;
  llvm::Module& module_;
  const TraceOptions& options_;
  bool is_called_unseen_;
  std::vector<llvm::BasicBlock*> blocks_;  // those that run, in the function's order
  llvm::DenseMap<const llvm::BasicBlock*, std::uint32_t> index_;
  ProbeProblem graph_;  // without what is wanted
  llvm::DenseMap<unsigned, std::uint64_t> keys_;
  llvm::DenseMap<unsigned, std::uint32_t> counts_;
};

}  // namespace

void insert_coverage(llvm::Function& function, MechanismSet mechanisms, const TraceOptions& options,
                     bool is_called_unseen) {
  if ((mechanisms & ~kTracePaths) != 0)
    Coverage(function, options, is_called_unseen).run(mechanisms);
}

bool has_call_sites(const llvm::Function& function) {
  return llvm::any_of(
      function, [](const llvm::BasicBlock& block) { return llvm::any_of(block, is_call_site); });
}

}  // namespace telltale::instrument
