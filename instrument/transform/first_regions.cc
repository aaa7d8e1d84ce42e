#include "transform/first_regions.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cstdint>

namespace telltale::instrument {

using llvm::BasicBlock;

namespace {

// A series has 64 regions, and fewer after the last executions that are observed: 56, 48 ... Code
// that is not on a region's most likely path gets observed in one of these.
constexpr std::uint32_t kSeriesForEachLeft = 8;
constexpr std::uint32_t kMostLeft = 8;

}  // namespace

FirstRegions::FirstRegions(llvm::Function& function, FirstExecutions& first,
                           bool observes_following)
    : function_(function), first_(first) {
  BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.begin());
  bank_ = builder.CreateAlloca(builder.getInt64Ty(), nullptr, "telltale.bank");
  if (!observes_following) return;
  series_ = builder.CreateAlloca(builder.getInt32Ty(), nullptr, "telltale.series");
  builder.SetInsertPoint(entry.getTerminator());
  builder.SetCurrentDebugLocation({});
  builder.CreateStore(builder.getInt32(0), series_);
}

BasicBlock* FirstRegions::make_block(const char* name) {
  return BasicBlock::Create(function_.getContext(), name, &function_);
}

BasicBlock* FirstRegions::make_check(BasicBlock* slow, BasicBlock* fast, Takes takes) {
  BasicBlock* const test = make_block("telltale.first");
  BasicBlock* const taken = make_block("telltale.take");
  llvm::GlobalVariable* const budget = first_.make_budget(
      takes == Takes::kAllForEver ? FirstExecutions::kOnce : FirstExecutions::kRenewed);
  llvm::IRBuilder<> builder(test);
  constexpr std::uint32_t kSeldom = 1;
  constexpr std::uint32_t kOften = 10000;
  builder.CreateCondBr(
      first_.emit_is_left(builder, budget), taken, fast,
      llvm::MDBuilder(function_.getContext()).createBranchWeights(kSeldom, kOften));
  builder.SetInsertPoint(taken);
  if (series_ != nullptr) {
    llvm::Value* const left =
        builder.CreateZExt(first_.emit_load(builder, budget), builder.getInt32Ty());
    llvm::Value* const counted =
        builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, builder.getInt32(kMostLeft));
    builder.CreateStore(builder.CreateMul(counted, builder.getInt32(kSeriesForEachLeft)), series_);
  }
  if (takes == Takes::kOne) {
    first_.emit_take(builder, budget);
  } else {
    first_.emit_take_all(builder, budget);
  }
  builder.CreateStore(first_bank(builder), bank_);
  builder.CreateBr(slow);
  return test;
}

BasicBlock* FirstRegions::make_series_check(BasicBlock* slow, BasicBlock* other) {
  BasicBlock* const test = make_block("telltale.series");
  BasicBlock* const taken = make_block("telltale.take");
  llvm::IRBuilder<> builder(test);
  llvm::Value* const left = builder.CreateLoad(builder.getInt32Ty(), series_);
  builder.CreateCondBr(builder.CreateICmpNE(left, builder.getInt32(0)), taken, other);
  builder.SetInsertPoint(taken);
  builder.CreateStore(builder.CreateSub(left, builder.getInt32(1)), series_);
  builder.CreateStore(first_bank(builder), bank_);
  builder.CreateBr(slow);
  return test;
}

void FirstRegions::insert_check(BasicBlock* block, BasicBlock* slow, Takes takes) {
  BasicBlock* const rest = block->splitBasicBlock(block->getFirstInsertionPt());
  block->getTerminator()->setSuccessor(0, make_check(slow, rest, takes));
}

std::vector<BasicBlock*> blocks_after_loops(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  std::vector<BasicBlock*> found;
  for (const llvm::Loop* const loop : loops.getLoopsInPreorder()) {
    llvm::SmallVector<BasicBlock*, 8> exits;
    loop->getUniqueExitBlocks(exits);
    for (BasicBlock* const block : exits) {
      if (std::find(found.begin(), found.end(), block) == found.end()) found.push_back(block);
    }
  }
  return found;
}

}  // namespace telltale::instrument
