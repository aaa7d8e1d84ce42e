// Removes the joins of the control flow graph at the function's returns.
#pragma once

#include <llvm/IR/Function.h>

namespace telltale::instrument {

// Gives each edge into a short block that returns a block of its own. Then no edge into it needs an
// increment, and a call before it can become a jump again: the code generator would make the copies
// itself, but not of blocks with positions.
void separate_returns(llvm::Function& function);

}  // namespace telltale::instrument
