// Cloning of blocks and functions, and what has to be done to a function before.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <optional>
#include <utility>
#include <vector>

namespace telltale::instrument {

// A block and the index of a successor.
using Edge = std::pair<llvm::BasicBlock*, unsigned>;

// Does a clone of the function's blocks mean the same as the original? With computed jumps it does
// only if `redirects_labels`: the addresses of labels are replaced.
bool can_be_cloned(const llvm::Function& function, bool redirects_labels);

// Splits the entry block. It keeps the allocas, which must not be cloned; returns the rest.
llvm::BasicBlock* split_entry(llvm::Function& function);

// Splits each landing pad from its block: nothing can be inserted before a landingpad instruction.
void split_landing_pads(llvm::Function& function);

// Demotes to memory all values that are used in other blocks, and all PHI nodes. Where two copies
// of a function meet, either may have computed a value. May add blocks.
void demote_values(llvm::Function& function);

// The back edges of a depth-first walk from `start`, and all edges of computed jumps: without them
// there is no loop. An edge to a landing pad is represented by the edge that leaves the pad.
// `post_order` has all blocks that can be reached from `start`; successors come first but for these
// edges.
//
// Their order does not depend on addresses, so that objects are the same in each compilation.
struct BackEdges {
  llvm::SetVector<Edge> edges;
  std::vector<llvm::BasicBlock*> post_order;
};
BackEdges find_back_edges(llvm::BasicBlock* start);

// Clones `blocks` in their order. References among them lead to the clones; `clones` maps the
// blocks and their instructions.
std::vector<llvm::BasicBlock*> clone_blocks(llvm::ArrayRef<llvm::BasicBlock*> blocks,
                                            const char* suffix, llvm::ValueToValueMapTy& clones);

// Two copies of a function's body: the fast copy is the original, the slow copy its clone. Control
// moves between them where the caller lets it.
class BodyClones {
 public:
  // Clones all blocks but the entry. Values must have been demoted.
  void clone(llvm::Function& function);
  // The blocks of the fast copy.
  [[nodiscard]] const std::vector<llvm::BasicBlock*>& fast_blocks() const { return fast_blocks_; }
  // The slow copy of a block or instruction of the fast copy.
  template <typename T>
  [[nodiscard]] T* slow_clone(T* fast) {
    return llvm::cast<T>(clones_[fast]);
  }

 private:
  std::vector<llvm::BasicBlock*> fast_blocks_;
  llvm::ValueToValueMapTy clones_;
};

// Clones a function, with internal linkage, further parameters of the types `extra`, and label
// tables of its own. `clones` maps its values.
llvm::Function* clone_function(llvm::Function& function, const char* suffix,
                               llvm::ArrayRef<llvm::Type*> extra, llvm::ValueToValueMapTy& clones);

}  // namespace telltale::instrument
