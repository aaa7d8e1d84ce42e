#include "transform/constant_arguments.h"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include <vector>

#include "analysis/ir_marks.h"

namespace telltale::instrument {
namespace {

// The value that a mark returns; null if it returns none.
llvm::Value* forwarded_by(const llvm::CallInst& mark) {
  return mark.getType()->isVoidTy() ? nullptr : mark.getArgOperand(1);
}

// The constant that is all that the variable is ever given; null if it has other values, or if its
// address is anywhere but in marks that only read it. A load before the store may return any value.
llvm::Constant* only_value(llvm::AllocaInst& variable, const TranslationUnit& unit) {
  llvm::Constant* value = nullptr;
  for (llvm::User* const user : variable.users()) {
    auto& instruction = *llvm::cast<llvm::Instruction>(user);
    if (const auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (!load->isSimple() || load->getType() != variable.getAllocatedType()) return nullptr;
    } else if (auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      auto* const stored = llvm::dyn_cast<llvm::Constant>(store->getValueOperand());
      if (stored == nullptr || !store->isSimple() || (value != nullptr && value != stored) ||
          stored->getType() != variable.getAllocatedType())
        return nullptr;
      value = stored;
    } else if (mark_of(instruction, unit) != nullptr) {
      if (forwarded_by(llvm::cast<llvm::CallInst>(instruction)) == &variable) return nullptr;
    } else if (!instruction.isLifetimeStartOrEnd()) {
      return nullptr;
    }
  }
  return value;
}

bool replace_loads(llvm::Function& function, const TranslationUnit& unit) {
  bool changed = false;
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    auto* const variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable == nullptr) continue;
    llvm::Constant* const value = only_value(*variable, unit);
    if (value == nullptr || !llvm::isa<llvm::ConstantInt, llvm::ConstantPointerNull>(value))
      continue;
    std::vector<llvm::LoadInst*> loads;
    for (llvm::User* const user : instruction.users()) {
      if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(user)) loads.push_back(load);
    }
    for (llvm::LoadInst* const load : loads) {
      load->replaceAllUsesWith(value);
      load->eraseFromParent();
      changed = true;
    }
  }
  return changed;
}

void fold_instructions(llvm::Function& function, const TranslationUnit& unit) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<llvm::Instruction*> dead;
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      if (mark_of(instruction, unit) != nullptr) {
        // The mark remains.
        auto* const forwarded = llvm::dyn_cast_or_null<llvm::ConstantInt>(
            forwarded_by(llvm::cast<llvm::CallInst>(instruction)));
        if (forwarded != nullptr) instruction.replaceAllUsesWith(forwarded);
        continue;
      }
      if (instruction.use_empty() || instruction.mayHaveSideEffects()) continue;
      llvm::Constant* const folded = llvm::ConstantFoldInstruction(&instruction, layout);
      if (folded == nullptr) continue;
      instruction.replaceAllUsesWith(folded);
      dead.push_back(&instruction);
    }
  }
  for (llvm::Instruction* const instruction : dead) instruction->eraseFromParent();
}

}  // namespace

void fold_constant_arguments(llvm::Function& function, const TranslationUnit& unit) {
  while (replace_loads(function, unit)) {
    fold_instructions(function, unit);
    for (llvm::BasicBlock& block : function) llvm::ConstantFoldTerminator(&block);
    llvm::removeUnreachableBlocks(function);
  }
}

}  // namespace telltale::instrument
