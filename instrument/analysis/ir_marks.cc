#include "analysis/ir_marks.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>

namespace telltale::instrument {

const Mark* mark_of(const llvm::Instruction& instruction, const TranslationUnit& unit) {
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || call->arg_empty()) return nullptr;
  const auto* const callee =
      llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
  if (callee == nullptr || !callee->getName().starts_with(kMarkPrefix)) return nullptr;
  const auto* const number = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
  if (number == nullptr || number->getZExtValue() >= unit.marks.size()) return nullptr;
  return &unit.marks[number->getZExtValue()];
}

std::vector<llvm::CallInst*> marks_in(llvm::Function& function, const TranslationUnit& unit) {
  std::vector<llvm::CallInst*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (mark_of(instruction, unit) != nullptr)
      found.push_back(llvm::cast<llvm::CallInst>(&instruction));
  }
  return found;
}

void erase_mark(llvm::CallInst& call) {
  if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(call.getArgOperand(1));
  call.eraseFromParent();
}

int function_index(const llvm::Function& function, const TranslationUnit& unit) {
  int found = -1;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const Mark* const mark = mark_of(instruction, unit);
    if (mark == nullptr) continue;
    // OpenMP regions inside the function have start marks too, after this one.
    if (mark->is_function_start) return mark->function;
    if (found < 0) found = mark->function;
  }
  return found;
}

const Function* function_of(const llvm::Function& function, const TranslationUnit& unit) {
  const int index = function_index(function, unit);
  return index < 0 ? nullptr : &unit.functions[static_cast<std::size_t>(index)];
}

}  // namespace telltale::instrument
