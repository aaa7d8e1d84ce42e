// Functions with loops that are called often: most calls go by without any question, in code as the
// programmer wrote it. Of the others, whose turn it is, the regions are asked about, and observed
// so much more often that each has the same chance as elsewhere.
#pragma once

#include <llvm/IR/Function.h>

#include "codegen/codegen.h"
#include "transform/acyclic_functions.h"
#include "translation_unit.h"

namespace telltale::instrument {

// Can a copy take over some of its calls?
bool can_sample_calls(llvm::Function& function);

// Leaves the function without marks, with a question at its entry. Answers the copy that is called
// where it is asked about: it has the marks, and behind its parameters an i64 that says which of
// the unit's countdowns counts, in bytes from the first.
llvm::Function* make_call_sampler(llvm::Function& function, const TranslationUnit& unit,
                                  Codegen& codegen, AcyclicFunctions& acyclic_functions);

}  // namespace telltale::instrument
