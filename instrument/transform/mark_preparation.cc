#include "transform/mark_preparation.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include <vector>

#include "analysis/ir_marks.h"
#include "codegen/runtime_abi.h"

namespace telltale::instrument {
namespace {

// Inserts the counter of one function; a function has one such mark at most.
void insert_reentry_counter(llvm::CallInst& call) {
  llvm::Function& function = *call.getFunction();
  llvm::Module& module = *function.getParent();
  llvm::IRBuilder<> builder(&call);
  llvm::Type* const i64 = builder.getInt64Ty();
  auto* const depth =
      new llvm::GlobalVariable(module, i64, false, llvm::GlobalValue::InternalLinkage,
                               llvm::ConstantInt::get(i64, 0), "telltale.sampler.depth");
  llvm::Value* const before =
      builder.CreateAtomicRMW(llvm::AtomicRMWInst::Add, depth, builder.getInt64(1),
                              llvm::MaybeAlign(8), llvm::AtomicOrdering::Monotonic);
  llvm::FunctionCallee mark_with_depth = module.getOrInsertFunction(
      std::string(kMarkPrefix) + "depth", builder.getVoidTy(), builder.getInt32Ty(), i64);
  llvm::cast<llvm::Function>(mark_with_depth.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
  builder.CreateCall(mark_with_depth,
                     {call.getArgOperand(0), builder.CreateAdd(before, builder.getInt64(1))});
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction* const end = block.getTerminator();
    if (!llvm::isa<llvm::ReturnInst>(end) && !llvm::isa<llvm::ResumeInst>(end)) continue;
    // A call that must be a jump ends the activation, and nothing may follow it.
    llvm::CallInst* const jump = block.getTerminatingMustTailCall();
    builder.SetInsertPoint(jump != nullptr ? jump : end);
    builder.CreateAtomicRMW(llvm::AtomicRMWInst::Sub, depth, builder.getInt64(1),
                            llvm::MaybeAlign(8), llvm::AtomicOrdering::Monotonic);
  }
  call.eraseFromParent();
}

}  // namespace

void erase_stray_marks(llvm::Module& module, const TranslationUnit& unit) {
  for (llvm::Function& function : module) {
    const std::vector<llvm::CallInst*> marks = marks_in(function, unit);
    bool has_start = false;
    for (const llvm::CallInst* const call : marks)
      has_start = has_start || mark_of(*call, unit)->is_function_start;
    if (has_start) continue;
    for (llvm::CallInst* const call : marks) erase_mark(*call);
  }
}

std::array<unsigned, kSchemeCount> assign_rows(const llvm::Module& module, TranslationUnit& unit) {
  std::vector<bool> is_in_ir(unit.marks.size());
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (mark_of(instruction, unit) == nullptr) continue;
      const auto& call = llvm::cast<llvm::CallInst>(instruction);
      is_in_ir[llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue()] = true;
    }
  }
  std::array<unsigned, kSchemeCount> rows{};
  for (std::size_t i = 0; i < is_in_ir.size(); ++i) {
    if (!is_in_ir[i]) continue;
    const Mark& mark = unit.marks[i];
    unsigned& next = rows[static_cast<std::size_t>(mark.scheme)];
    for (const unsigned site : mark.sites) unit.sites[site].row = static_cast<int>(next++);
    for (const unsigned site : mark.uncounted_sites)
      unit.sites[site].row = static_cast<int>(next++);
  }
  return rows;
}

void apply_weights(TranslationUnit& unit) {
  for (Site& site : unit.sites) {
    int best = -1;
    for (const Scale& scale : unit.options.scales) {
      const bool is_any = scale.function == "*";
      if (!is_any && scale.function != unit.functions[static_cast<std::size_t>(site.function)].name)
        continue;
      if (scale.node && static_cast<int>(*scale.node) != site.cfg_node) continue;
      const int specificity = (is_any ? 0 : 1) + (scale.node ? 1 : 0);
      if (specificity < best) continue;
      best = specificity;
      site.weight = scale.weight;
    }
  }
}

void weaken_globals_of_marks(llvm::Module& module, const TranslationUnit& unit) {
  for (llvm::GlobalVariable& global : module.globals()) {
    if (!global.isDeclaration() || global.use_empty() || !global.hasExternalLinkage()) continue;
    const auto is_compared = [&](const llvm::Use& use) {
      const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      // A mark passes its value on to the program, which uses the address then.
      return instruction != nullptr && mark_of(*instruction, unit) != nullptr &&
             use.getOperandNo() >= kFirstOperandArgument;
    };
    if (!llvm::all_of(global.uses(), is_compared)) continue;
    global.setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
    if (global.hasDefaultVisibility() || module.getPICLevel() == llvm::PICLevel::NotPIC) continue;
    // Position-independent code may not assume that it is near: a hidden variable that no file
    // defines has no such address. It stays hidden if a file defines it.
    global.setVisibility(llvm::GlobalValue::DefaultVisibility);
    global.setDSOLocal(false);
  }
}

void drop_promises_about_memory(llvm::Module& module, const TranslationUnit& unit) {
  for (llvm::Function& function : module) {
    if (marks_in(function, unit).empty()) continue;
    function.removeFnAttr(llvm::Attribute::Memory);
    for (llvm::User* const user : function.users()) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(user);
      if (call != nullptr && call->getCalledFunction() == &function)
        call->removeFnAttr(llvm::Attribute::Memory);
    }
  }
}

void insert_reentry_counters(llvm::Module& module, const TranslationUnit& unit) {
  for (llvm::Function& function : module) {
    for (llvm::CallInst* const call : marks_in(function, unit)) {
      if (mark_of(*call, unit)->scheme != Scheme::kFunReentries) continue;
      insert_reentry_counter(*call);
      break;
    }
  }
}

void lower_marks_without_sites(llvm::Module& module, const TranslationUnit& unit) {
  for (llvm::Function& function : module) {
    for (llvm::CallInst* const call : marks_in(function, unit)) {
      const Mark& mark = *mark_of(*call, unit);
      if (!mark.sites.empty()) continue;
      if (mark.is_reset) {
        llvm::IRBuilder<> builder(call);
        builder.CreateCall(runtime::telltale_sampler_reset_v1(module));
      }
      erase_mark(*call);
    }
  }
}

void erase_mark_declarations(llvm::Module& module) {
  std::vector<llvm::Function*> unused;
  for (llvm::Function& function : module) {
    if (function.getName().starts_with(kMarkPrefix) && function.use_empty())
      unused.push_back(&function);
  }
  for (llvm::Function* const function : unused) function->eraseFromParent();
}

}  // namespace telltale::instrument
