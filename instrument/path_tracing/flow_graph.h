// The control flow graph of a function as input of Ball-Larus numbering, and the splitting of edges
// that numbering requires.
#pragma once

#include <llvm/IR/Function.h>

#include <string>
#include <vector>

#include "model/ball_larus.h"

namespace telltale::instrument {

// Whether the function calls one that returns twice: setjmp or __builtin_setjmp.
bool calls_setjmp(const llvm::Function& function);

// Gives every unwind edge a separate landing pad, and every target of an indirect branch a block
// without other predecessors, because such edges cannot be split.
void separate_unsplittable_edges(llvm::Function& function);

struct FlowGraph {
  std::vector<llvm::BasicBlock*> blocks;  // in the function's order
  std::vector<FlowBlock> flow;            // by the same index
};
// `estimates_frequencies`: fills FlowBlock::likely and FlowBlock::frequencies from clang's
// estimates.
FlowGraph flow_graph(llvm::Function& function, bool estimates_frequencies);

// Splits the edges in `numbered`. Sets `block_of_node` to the block of each node; null for the
// exit. Returns the reason if that is impossible, otherwise an empty text. Edges may have been
// split even then, which does not change the program's behaviour.
std::string split_edges(const FlowGraph& graph, const NumberedGraph& numbered,
                        std::vector<llvm::BasicBlock*>& block_of_node);

}  // namespace telltale::instrument
