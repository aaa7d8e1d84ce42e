#include "transform/region_countdown.h"

#include <llvm/IR/MDBuilder.h>

namespace telltale::instrument {

using llvm::BasicBlock;

RegionCountdown::RegionCountdown(llvm::Function& function, const Unit& unit, Counters& counters,
                                 llvm::Value* offset)
    : function_(function),
      unit_(unit),
      counters_(counters),
      offset_(offset),
      word_(llvm::Type::getInt32Ty(function.getContext())) {}

void RegionCountdown::take_from_shared(llvm::IRBuilderBase& at) {
  at.CreateStore(at.CreateLoad(word_, shared(at)), local());
}

void RegionCountdown::give_to_shared(llvm::IRBuilderBase& at) {
  at.CreateStore(at.CreateLoad(word_, local()), shared(at));
}

void RegionCountdown::ask(llvm::IRBuilderBase& at, bool is_local, BasicBlock* fast,
                          BasicBlock* slow, BasicBlock* other) {
  llvm::Value* const place = is_local ? local() : shared(at);
  // Below 0, rather than at 0: that is one instruction that counts in memory, and a jump.
  llvm::Value* const left =
      at.CreateSub(at.CreateLoad(word_, place), llvm::ConstantInt::get(word_, 1));
  at.CreateStore(left, place);
  BasicBlock* const asks =
      BasicBlock::Create(function_.getContext(), "telltale.ask", &function_, fast);
  constexpr std::uint32_t kSeldom = 1;
  constexpr std::uint32_t kOften = 10000;
  llvm::MDNode* const unlikely =
      unit_.options.predict_checks
          ? llvm::MDBuilder(function_.getContext()).createBranchWeights(kSeldom, kOften)
          : nullptr;
  at.CreateCondBr(at.CreateICmpSLT(left, llvm::ConstantInt::get(word_, 0)), asks, fast, unlikely);
  at.SetInsertPoint(asks);
  if (is_local) give_to_shared(at);
  llvm::Value* const fires = counters_.ask_whether_due(at, shared(at));
  if (is_local) take_from_shared(at);
  at.CreateCondBr(fires, slow, other);
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
