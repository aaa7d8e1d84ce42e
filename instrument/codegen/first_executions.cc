#include "codegen/first_executions.h"

namespace telltale::instrument {

llvm::GlobalVariable* FirstExecutions::make_budget(Renewal renewal) {
  llvm::Type* const byte = llvm::Type::getInt8Ty(tables_.module().getContext());
  return (renewal == kRenewed ? renewed_ : once_)
      .emplace_back(tables_.make_variable(llvm::ConstantInt::get(byte, 0), "budget", false));
}

llvm::LoadInst* FirstExecutions::emit_load(llvm::IRBuilderBase& at, llvm::GlobalVariable* budget) {
  llvm::LoadInst* const load = at.CreateLoad(at.getInt8Ty(), budget);
  if (tables_.options().threads) load->setAtomic(llvm::AtomicOrdering::Monotonic);
  return load;
}

llvm::Value* FirstExecutions::emit_is_left(llvm::IRBuilderBase& at, llvm::GlobalVariable* budget) {
  return at.CreateICmpNE(emit_load(at, budget), at.getInt8(0));
}

void FirstExecutions::emit_take(llvm::IRBuilderBase& at, llvm::GlobalVariable* budget) {
  llvm::Value* const now = emit_load(at, budget);
  // With threads it may be 0 by now.
  llvm::StoreInst* const store = at.CreateStore(
      at.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, now, at.getInt8(1)), budget);
  if (tables_.options().threads) store->setAtomic(llvm::AtomicOrdering::Monotonic);
}

void FirstExecutions::emit_take_all(llvm::IRBuilderBase& at, llvm::GlobalVariable* budget) {
  llvm::StoreInst* const store = at.CreateStore(at.getInt8(0), budget);
  if (tables_.options().threads) store->setAtomic(llvm::AtomicOrdering::Monotonic);
}

llvm::Constant* FirstExecutions::merge_budgets() {
  std::vector<llvm::GlobalVariable*> budgets = renewed_;
  budgets.insert(budgets.end(), once_.begin(), once_.end());
  if (budgets.empty()) return nullptr;
  llvm::LLVMContext& context = tables_.module().getContext();
  auto* const type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), budgets.size());
  llvm::GlobalVariable* const merged =
      tables_.make_variable(llvm::ConstantAggregateZero::get(type), "budgets", false);
  llvm::Type* const i32 = llvm::Type::getInt32Ty(context);
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    llvm::Constant* const indices[] = {llvm::ConstantInt::get(i32, 0),
                                       llvm::ConstantInt::get(i32, i)};
    budgets[i]->replaceAllUsesWith(
        llvm::ConstantExpr::getInBoundsGetElementPtr(type, merged, indices));
    budgets[i]->eraseFromParent();
  }
  return merged;
}

llvm::Value* sample_bank(llvm::IRBuilderBase& at) { return at.getInt64(0); }
llvm::Value* first_bank(llvm::IRBuilderBase& at) { return at.getInt64(1); }

}  // namespace telltale::instrument
