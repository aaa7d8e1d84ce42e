#include "transform/region_countdown.h"

#include <llvm/IR/MDBuilder.h>

namespace telltale::instrument {

using llvm::BasicBlock;

RegionCountdown::RegionCountdown(llvm::Function& function, const TranslationUnit& unit,
                                 Codegen& codegen, llvm::Value* offset)
    : function_(function),
      unit_(unit),
      codegen_(codegen),
      offset_(offset),
      word_(llvm::Type::getInt32Ty(function.getContext())) {}

void RegionCountdown::load_from_global(llvm::IRBuilderBase& at) {
  at.CreateStore(at.CreateLoad(word_, global(at)), local());
}

void RegionCountdown::store_to_global(llvm::IRBuilderBase& at) {
  at.CreateStore(at.CreateLoad(word_, local()), global(at));
}

void RegionCountdown::emit_check(llvm::IRBuilderBase& at, bool is_cached, BasicBlock* fast,
                                 BasicBlock* slow, BasicBlock* not_due) {
  llvm::Value* const place = is_cached ? local() : global(at);
  // The test is "below 0" because that is the carry of one instruction that decrements memory.
  llvm::Value* const left =
      at.CreateSub(at.CreateLoad(word_, place), llvm::ConstantInt::get(word_, 1));
  at.CreateStore(left, place);
  BasicBlock* const check =
      BasicBlock::Create(function_.getContext(), "telltale.ask", &function_, fast);
  constexpr std::uint32_t kSeldom = 1;
  constexpr std::uint32_t kOften = 10000;
  llvm::MDNode* const unlikely =
      unit_.options.predict_checks
          ? llvm::MDBuilder(function_.getContext()).createBranchWeights(kSeldom, kOften)
          : nullptr;
  at.CreateCondBr(at.CreateICmpSLT(left, llvm::ConstantInt::get(word_, 0)), check, fast, unlikely);
  at.SetInsertPoint(check);
  if (is_cached) store_to_global(at);
  llvm::Value* const fires = codegen_.countdowns.emit_sample_check(at, global(at));
  if (is_cached) load_from_global(at);
  at.CreateCondBr(fires, slow, not_due);
}

llvm::Value* RegionCountdown::local() {
  if (local_ == nullptr) {
    BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.begin());
    local_ = builder.CreateAlloca(word_, nullptr, "telltale.countdown");
  }
  return local_;
}

}  // namespace telltale::instrument
