#include "transform/loop_unrolling.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <vector>

#include "analysis/ir_marks.h"
#include "transform/cloning.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

constexpr unsigned kUnrollFactor = 4;
// Not counting loads and stores of local variables.
constexpr unsigned kMaxInstructions = 60;
// Operands of observations, each of which is code in the slow copy.
constexpr std::size_t kMaxOperands = 120;

bool is_small(const llvm::Loop& loop, const TranslationUnit& unit) {
  unsigned instructions = 0;
  std::size_t operands = 0;
  for (const BasicBlock* const block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (llvm::isa<llvm::NoAliasScopeDeclInst>(instruction)) return false;
      if (const Mark* const mark = mark_of(instruction, unit); mark != nullptr) {
        operands += mark->sites.size();
        continue;
      }
      const bool is_variable = llvm::isa<llvm::LoadInst>(instruction) &&
                               llvm::isa<llvm::AllocaInst>(instruction.getOperand(0));
      const bool is_kept = llvm::isa<llvm::StoreInst>(instruction) &&
                           llvm::isa<llvm::AllocaInst>(instruction.getOperand(1));
      if (!is_variable && !is_kept && !instruction.isDebugOrPseudoInst()) ++instructions;
    }
  }
  return instructions <= kMaxInstructions && operands <= kMaxOperands;
}

UnrolledLoop unroll(const llvm::Loop& loop) {
  BasicBlock* const header = loop.getHeader();
  const std::vector<BasicBlock*> blocks(loop.block_begin(), loop.block_end());
  // The blocks of each iteration; the first are the original's.
  std::vector<std::vector<BasicBlock*>> passes{blocks};
  for (unsigned pass = 1; pass < kUnrollFactor; ++pass) {
    llvm::ValueToValueMapTy clones;
    passes.push_back(clone_blocks(blocks, ".again", clones));
  }
  const auto place_of_header =
      static_cast<std::size_t>(std::find(blocks.begin(), blocks.end(), header) - blocks.begin());
  for (unsigned pass = 0; pass < kUnrollFactor; ++pass) {
    BasicBlock* const own = passes[pass][place_of_header];
    BasicBlock* const next = passes[(pass + 1) % kUnrollFactor][place_of_header];
    for (BasicBlock* const block : passes[pass]) {
      block->getTerminator()->replaceSuccessorWith(own, next);
      if (pass + 1 < kUnrollFactor)
        block->getTerminator()->setMetadata(llvm::LLVMContext::MD_loop, nullptr);
    }
  }
  return {blocks, header, passes[1][place_of_header]};
}

// For the branch at the end of a loop that LLVM is not to unroll.
llvm::MDNode* make_unroll_disable(llvm::LLVMContext& context) {
  llvm::MDNode* const disable =
      llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* const loop = llvm::MDNode::getDistinct(context, {nullptr, disable});
  loop->replaceOperandWith(0, loop);
  return loop;
}

}  // namespace

std::vector<UnrolledLoop> unroll_small_loops(llvm::Function& function, const TranslationUnit& unit,
                                             const std::function<bool(const llvm::Loop&)>& wants) {
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  std::vector<const llvm::Loop*> chosen;
  for (const llvm::Loop* const loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && wants(*loop) && is_small(*loop, unit)) chosen.push_back(loop);
  }
  std::vector<UnrolledLoop> unrolled;
  for (const llvm::Loop* const loop : chosen) unrolled.push_back(unroll(*loop));
  return unrolled;
}

BasicBlock* roll_up_slow_copy(const UnrolledLoop& loop, BodyClones& clones,
                              llvm::AllocaInst& counter, BasicBlock* region_end) {
  BasicBlock* const header = clones.slow_clone(loop.header);
  BasicBlock* const second_header = clones.slow_clone(loop.second_header);
  llvm::LLVMContext& context = header->getContext();
  llvm::Function* const function = header->getParent();
  BasicBlock* const entry = BasicBlock::Create(context, "telltale.enter", function, header);
  BasicBlock* const next = BasicBlock::Create(context, "telltale.next", function, header);
  BasicBlock* const again = BasicBlock::Create(context, "telltale.again", function, header);
  // A region that began before the loop enters it here, too.
  const std::vector<BasicBlock*> before(llvm::pred_begin(header), llvm::pred_end(header));
  for (BasicBlock* const block : before)
    block->getTerminator()->replaceSuccessorWith(header, entry);
  llvm::IRBuilder<> builder(entry);
  builder.CreateStore(builder.getInt32(kUnrollFactor - 1), &counter);
  builder.CreateBr(header);
  builder.SetInsertPoint(next);
  llvm::Value* const left = builder.CreateLoad(builder.getInt32Ty(), &counter);
  builder.CreateCondBr(builder.CreateICmpEQ(left, builder.getInt32(0)), region_end, again);
  builder.SetInsertPoint(again);
  builder.CreateStore(builder.CreateSub(left, builder.getInt32(1)), &counter);
  builder.CreateBr(header)->setMetadata(llvm::LLVMContext::MD_loop, make_unroll_disable(context));
  for (BasicBlock* const block : loop.blocks)
    clones.slow_clone(block)->getTerminator()->replaceSuccessorWith(second_header, next);
  return entry;
}

}  // namespace telltale::instrument
