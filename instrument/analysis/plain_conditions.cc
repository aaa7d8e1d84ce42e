#include "analysis/plain_conditions.h"

#include "analysis/ir_marks.h"

namespace telltale::instrument {

PlainConditions::PlainConditions(llvm::Function& function, const TranslationUnit& unit) {
  for (llvm::BasicBlock& block : function) {
    auto* const branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (branch == nullptr || !branch->isConditional()) continue;
    auto* const mark = llvm::dyn_cast<llvm::CallInst>(branch->getCondition());
    if (mark == nullptr || mark_of(*mark, unit) == nullptr) continue;
    branch->setCondition(mark->getArgOperand(1));
    changed_.emplace_back(branch, mark);
  }
}

PlainConditions::~PlainConditions() {
  for (const auto& [branch, mark] : changed_) branch->setCondition(mark);
}

}  // namespace telltale::instrument
