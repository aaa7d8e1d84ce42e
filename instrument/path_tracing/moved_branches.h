// What optimisation made of the branches of the source's pieces.
#pragma once

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include "path_tracing/source_pieces.h"

namespace telltale::instrument {

// Whether the block chooses between values where the piece had a branch: SimplifyCFG makes both
// sides of a branch one, which has the branch's place. `call`: where the piece's function was
// inlined; null: nowhere.
bool chooses_values(const llvm::BasicBlock& block, const Piece& piece,
                    const llvm::DILocation* call);

// Whether the block ends with the piece's branch, and with no other one. A branch in a loop that
// does not depend on the loop is moved in front of it, where the two may become one.
bool ends_with_branch_of(const llvm::BasicBlock& block, const Piece& piece,
                         const llvm::DILocation* call);

}  // namespace telltale::instrument
