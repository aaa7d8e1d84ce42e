// What optimisation made of the branches of the source's pieces.
#pragma once

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include "path_tracing/source_pieces.h"

namespace telltale::instrument {

// Whether the piece's branch was converted to a select in this block: SimplifyCFG gives the select
// the branch's debug location, and what other passes make of the select keeps it. `call`: where the
// piece's function was inlined; null: nowhere.
bool chooses_values(const llvm::BasicBlock& block, const Piece& piece,
                    const llvm::DILocation* call);

// Whether the block ends with the piece's branch alone. A loop-invariant branch is hoisted in front
// of its loop, and may be combined with the branch that is there.
bool ends_with_branch_of(const llvm::BasicBlock& block, const Piece& piece,
                         const llvm::DILocation* call);

}  // namespace telltale::instrument
