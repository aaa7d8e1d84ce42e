// Edges on which a number has reached a constant limit, which most executions do not: a table has
// no such entry, a buffer is full, a text is too long, something is nested too deeply. Such an
// outcome may be rare at a branch that is executed often, so that regions seldom show it.
#pragma once

#include <llvm/IR/Function.h>

#include "translation_unit.h"

namespace telltale::instrument {

// Gives each such edge, of a branch with a site, a block of its own. Call before values are
// demoted.
void split_limit_edges(llvm::Function& function, const TranslationUnit& unit);

// Is it such a block, or a clone of one?
bool is_limit_edge(const llvm::BasicBlock& block);

}  // namespace telltale::instrument
