// Exits at which a loop has reached a constant limit, though it could have ended otherwise:
// `for (i = 0; i < sizeof buffer && is_digit(*text); i++)`. Most calls end such a loop at what it
// looks for, so that this exit is a rare outcome of a branch that is executed often.
#pragma once

#include <llvm/IR/Function.h>

#include "translation_unit.h"

namespace telltale::instrument {

// Gives each such exit, of a branch with a site, a block of its own on its edge. Call before values
// are demoted.
void split_limit_exits(llvm::Function& function, const TranslationUnit& unit);

// Is it such a block, or a clone of one?
bool is_limit_exit(const llvm::BasicBlock& block);

}  // namespace telltale::instrument
