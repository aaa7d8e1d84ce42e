// Inlining before functions are cloned. With sites and two copies, small functions would be too
// large for LLVM's inliner.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Passes/OptimizationLevel.h>

#include "translation_unit.h"

namespace telltale::instrument {

// Inlines small functions, and internal functions that are called once, into functions with marks,
// callees first. Erases functions that are no longer called.
void inline_small_functions(llvm::Module& module, const TranslationUnit& unit,
                            llvm::OptimizationLevel level);

}  // namespace telltale::instrument
