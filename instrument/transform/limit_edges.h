// Edges that are taken when a number has reached a constant limit: a table has no such entry, a
// buffer is full, a text is too long, something is nested too deeply. Most executions of the branch
// do not take them, so the regions that are observed seldom show this outcome.
#pragma once

#include <llvm/IR/Function.h>

#include "translation_unit.h"

namespace telltale::instrument {

// Splits these edges, where their branch has a site: each gets a block that only it leads to. Call
// before values are demoted.
void split_limit_edges(llvm::Function& function, const TranslationUnit& unit);

// Was the block inserted by split_limit_edges(), or is it a clone of one that was?
bool is_limit_edge(const llvm::BasicBlock& block);

}  // namespace telltale::instrument
