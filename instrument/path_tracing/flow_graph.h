// The control flow graph of a function, as input of Ball-Larus numbering; the edges that numbering
// wants split.
#pragma once

#include <llvm/IR/Function.h>

#include <string>
#include <vector>

#include "model/ball_larus.h"

namespace telltale::instrument {

// Gives every unwind edge a landing pad of its own, and every target of an indirect branch a block
// that nothing else branches to: such edges cannot be split.
void separate_unsplittable_edges(llvm::Function& function);

struct FlowGraph {
  std::vector<llvm::BasicBlock*> blocks;  // in the function's order
  std::vector<FlowBlock> flow;            // by the same index
};
// `finds_likely`: fills FlowBlock::likely from clang's estimates.
FlowGraph flow_graph(llvm::Function& function, bool finds_likely);

// Splits the edges that `numbered` names. `block_of_node` gets the block of each node; of the exit
// it is null. Returns why that is impossible, or an empty text; edges may have been split all the
// same, which changes nothing that the program does.
std::string split_edges(const FlowGraph& graph, const NumberedGraph& numbered,
                        std::vector<llvm::BasicBlock*>& block_of_node);

}  // namespace telltale::instrument
