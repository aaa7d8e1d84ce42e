// Inlining before functions are copied: what is small enough to be inlined as the programmer wrote
// it would, with its sites and twice, be too large for LLVM to inline later.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Passes/OptimizationLevel.h>

#include "translation_unit.h"

namespace telltale::instrument {

// Inlines small functions, and internal ones that are called once, into functions with marks, the
// innermost calls first. Removes what nobody calls any more.
void inline_small_functions(llvm::Module& module, const TranslationUnit& unit,
                            llvm::OptimizationLevel level);

}  // namespace telltale::instrument
