#include "path_tracing/separate_returns.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <utility>
#include <vector>

#include "path_tracing/source_pieces.h"

namespace telltale::instrument {
namespace {

// About as many instructions as an increment and a jump take: larger clones would make programs
// larger.
constexpr unsigned kMostCopied = 4;

bool can_be_copied(const llvm::BasicBlock& block) {
  if (!llvm::isa<llvm::ReturnInst>(block.getTerminator()) || block.isEHPad() ||
      block.hasAddressTaken() || !block.hasNPredecessorsOrMore(2))
    return false;
  unsigned copied = 0;
  for (const llvm::Instruction& instruction : block) {
    if (llvm::isa<llvm::PHINode>(instruction) || llvm::isa<llvm::DbgInfoIntrinsic>(instruction) ||
        instruction.isTerminator() || is_line_marker(instruction))
      continue;
    if (llvm::isa<llvm::CallBase>(instruction) || instruction.getType()->isTokenTy()) return false;
    ++copied;
  }
  return copied <= kMostCopied;
}

bool can_be_redirected(const llvm::BasicBlock& predecessor) {
  return !llvm::isa<llvm::IndirectBrInst>(predecessor.getTerminator()) &&
         !llvm::isa<llvm::CallBrInst>(predecessor.getTerminator());
}

std::vector<std::pair<llvm::Instruction*, unsigned>> edges_to(llvm::BasicBlock& block) {
  std::vector<std::pair<llvm::Instruction*, unsigned>> edges;
  const llvm::SetVector<llvm::BasicBlock*> predecessors(llvm::pred_begin(&block),
                                                        llvm::pred_end(&block));
  for (llvm::BasicBlock* const predecessor : predecessors) {
    if (!can_be_redirected(*predecessor)) continue;
    llvm::Instruction* const branch = predecessor->getTerminator();
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
      if (branch->getSuccessor(i) == &block) edges.emplace_back(branch, i);
    }
  }
  return edges;
}

// Clones the block for one successor edge of `branch`.
void copy_for(llvm::BasicBlock& block, llvm::Instruction& branch, unsigned successor) {
  llvm::BasicBlock* const predecessor = branch.getParent();
  llvm::ValueToValueMapTy copies;
  llvm::BasicBlock* const copy =
      llvm::CloneBasicBlock(&block, copies, ".telltale.return", block.getParent());
  for (llvm::PHINode& phi : block.phis()) {
    auto* const copied = llvm::cast<llvm::PHINode>(copies[&phi]);
    copies[&phi] = phi.getIncomingValueForBlock(predecessor);
    copied->eraseFromParent();
  }
  llvm::remapInstructionsInBlocks({copy}, copies);
  block.removePredecessor(predecessor, true);
  branch.setSuccessor(successor, copy);
  llvm::MergeBlockIntoPredecessor(copy);
}

}  // namespace

void separate_returns(llvm::Function& function) {
  llvm::SetVector<llvm::BasicBlock*> pending;
  for (llvm::BasicBlock& block : function) pending.insert(&block);
  while (!pending.empty()) {
    llvm::BasicBlock* const block = pending.pop_back_val();
    if (!can_be_copied(*block)) continue;
    for (const auto& [branch, successor] : edges_to(*block)) {
      if (block->hasNPredecessors(1)) break;
      llvm::BasicBlock* const predecessor = branch->getParent();
      copy_for(*block, *branch, successor);
      // It may have become a short block that returns.
      pending.insert(predecessor);
    }
    llvm::BasicBlock* const last = block->getSinglePredecessor();
    if (last != nullptr && llvm::MergeBlockIntoPredecessor(block)) pending.insert(last);
  }
}

}  // namespace telltale::instrument
