#include "transform/cached_countdown.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <vector>

#include "transform/cloning.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

void add_edges(BasicBlock* from, const BasicBlock* to, std::vector<Edge>& edges) {
  const llvm::Instruction* const end = from->getTerminator();
  for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
    const Edge edge{from, i};
    if (end->getSuccessor(i) == to && std::find(edges.begin(), edges.end(), edge) == edges.end())
      edges.push_back(edge);
  }
}

// Splits the edge; there are no PHI nodes. Returns where to insert code.
llvm::Instruction* split_edge(const Edge& edge) {
  llvm::Instruction* const end = edge.first->getTerminator();
  BasicBlock* const to = end->getSuccessor(edge.second);
  BasicBlock* const between = BasicBlock::Create(to->getContext(), "", to->getParent(), to);
  end->setSuccessor(edge.second, between);
  return llvm::BranchInst::Create(to, between);
}

}  // namespace

std::set<const BasicBlock*> cache_in_loops(
    llvm::Function& function, RegionCountdown& countdown,
    const std::function<bool(const llvm::Loop&)>& preserves_countdown) {
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  std::vector<const llvm::Loop*> work(loops.begin(), loops.end());
  std::set<const BasicBlock*> blocks;
  std::vector<Edge> entering;
  std::vector<Edge> leaving;
  while (!work.empty()) {
    const llvm::Loop* const loop = work.back();
    work.pop_back();
    if (!preserves_countdown(*loop)) {
      work.insert(work.end(), loop->begin(), loop->end());
      continue;
    }
    blocks.insert(loop->block_begin(), loop->block_end());
    for (BasicBlock* const before : llvm::predecessors(loop->getHeader())) {
      if (!loop->contains(before)) add_edges(before, loop->getHeader(), entering);
    }
    for (BasicBlock* const block : loop->blocks()) {
      const llvm::Instruction* const end = block->getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        if (!loop->contains(end->getSuccessor(i))) leaving.emplace_back(block, i);
      }
    }
  }
  for (const Edge& edge : entering) {
    llvm::IRBuilder<> builder(split_edge(edge));
    countdown.load_from_global(builder);
  }
  for (const Edge& edge : leaving) {
    llvm::IRBuilder<> builder(split_edge(edge));
    countdown.store_to_global(builder);
  }
  return blocks;
}

}  // namespace telltale::instrument
