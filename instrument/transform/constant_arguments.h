// Constants that inlining brings into a function.
#pragma once

#include <llvm/IR/Function.h>

#include "translation_unit.h"

namespace telltale::instrument {

// Replaces loads of variables that are only ever given one constant, folds what follows from it,
// and erases the code that is then unreachable, with its marks: generic code that is inlined for
// each of its variants is not cloned with the branches for all others. Sites keep their rows.
void fold_constant_arguments(llvm::Function& function, const TranslationUnit& unit);

}  // namespace telltale::instrument
