// Duplicates short return blocks, so that paths do not join before them.
#pragma once

#include <llvm/IR/Function.h>

namespace telltale::instrument {

// Clones each short block that returns, once for each edge that leads to it. The edges then need no
// increments, and a call before the return can become a tail call. Without path tracing, the code
// generator clones such blocks itself, but not if they begin with the assembly of a position.
void separate_returns(llvm::Function& function);

}  // namespace telltale::instrument
