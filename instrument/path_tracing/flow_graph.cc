#include "path_tracing/flow_graph.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace telltale::instrument {
namespace {

void separate_landing_pad(llvm::BasicBlock& block) {
  llvm::LandingPadInst* const pad = block.getLandingPadInst();
  const std::vector<llvm::BasicBlock*> invokes(llvm::pred_begin(&block), llvm::pred_end(&block));
  if (invokes.size() < 2) return;
  llvm::PHINode* const joined = llvm::PHINode::Create(
      pad->getType(), static_cast<unsigned>(invokes.size()), "telltale.pad", block.begin());
  for (llvm::BasicBlock* const invoke : invokes) {
    llvm::BasicBlock* const own =
        llvm::BasicBlock::Create(block.getContext(), "telltale.pad", block.getParent(), &block);
    llvm::Instruction* const copy = pad->clone();
    copy->insertInto(own, own->end());
    llvm::IRBuilder<> builder(own);
    builder.SetCurrentDebugLocation(pad->getDebugLoc());
    builder.CreateBr(&block);
    llvm::cast<llvm::InvokeInst>(invoke->getTerminator())->setUnwindDest(own);
    block.replacePhiUsesWith(invoke, own);
    joined->addIncoming(copy, own);
  }
  pad->replaceAllUsesWith(joined);
  pad->eraseFromParent();
}

void estimate_frequencies(llvm::Function& function, FlowGraph& graph) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const llvm::BranchProbabilityInfo probabilities(function, loops);
  const llvm::BlockFrequencyInfo frequencies(function, probabilities, loops);
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    FlowBlock& flow = graph.flow[i];
    llvm::BranchProbability highest = llvm::BranchProbability::getZero();
    for (std::uint32_t successor = 0; successor < flow.successors.size(); ++successor) {
      const llvm::BranchProbability its =
          probabilities.getEdgeProbability(graph.blocks[i], successor);
      flow.frequencies.push_back((frequencies.getBlockFreq(graph.blocks[i]) * its).getFrequency());
      if (its <= highest) continue;
      highest = its;
      flow.likely = successor;
    }
  }
}

}  // namespace

bool calls_setjmp(const llvm::Function& function) {
  // callsFunctionThatReturnsTwice() does not know the intrinsic of __builtin_setjmp.
  return function.callsFunctionThatReturnsTwice() ||
         llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
           const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
           return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::eh_sjlj_setjmp;
         });
}

void separate_unsplittable_edges(llvm::Function& function) {
  std::vector<llvm::BasicBlock*> pads;
  bool branches_indirectly = false;
  for (llvm::BasicBlock& block : function) {
    if (block.isLandingPad()) pads.push_back(&block);
    branches_indirectly =
        branches_indirectly || llvm::isa<llvm::IndirectBrInst>(block.getTerminator());
  }
  for (llvm::BasicBlock* const pad : pads) separate_landing_pad(*pad);
  if (branches_indirectly) llvm::SplitIndirectBrCriticalEdges(function, false);
}

FlowGraph flow_graph(llvm::Function& function, bool estimates_frequencies) {
  FlowGraph graph;
  llvm::DenseMap<const llvm::BasicBlock*, std::uint32_t> index;
  for (llvm::BasicBlock& block : function) {
    index[&block] = static_cast<std::uint32_t>(graph.blocks.size());
    graph.blocks.push_back(&block);
  }
  for (llvm::BasicBlock* const block : graph.blocks) {
    FlowBlock flow;
    for (const llvm::BasicBlock* const successor : llvm::successors(block))
      flow.successors.push_back(index.lookup(successor));
    flow.leaves = flow.successors.empty();
    graph.flow.push_back(std::move(flow));
  }
  if (estimates_frequencies) estimate_frequencies(function, graph);
  return graph;
}

std::string split_edges(const FlowGraph& graph, const NumberedGraph& numbered,
                        std::vector<llvm::BasicBlock*>& block_of_node) {
  block_of_node.clear();
  for (const NumberedNode& node : numbered.nodes)
    block_of_node.push_back(node.block == NumberedNode::kNoBlock ? nullptr
                                                                 : graph.blocks[node.block]);
  for (const SplitEdge& edge : numbered.splits) {
    llvm::Instruction* const terminator = graph.blocks[edge.block]->getTerminator();
    if (llvm::isa<llvm::IndirectBrInst>(terminator))
      return "several indirect branches share a target";
    llvm::BasicBlock* const middle = llvm::SplitKnownCriticalEdge(terminator, edge.successor);
    if (middle == nullptr) return "an edge cannot be split";
    block_of_node[edge.node] = middle;
  }
  return "";
}

}  // namespace telltale::instrument
