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

// Would LLVM inline the function without instrumentation, if it is called more than once?
bool is_small(const llvm::Function& function, const TranslationUnit& unit);

}  // namespace telltale::instrument
