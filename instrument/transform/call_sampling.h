// Call sampling, for functions with loops that are called often. Most calls run code without
// checks. The sampled calls run a clone with region sampling, at a rate that is higher by so much
// that each region has the same chance of being observed as elsewhere.
#pragma once

#include <llvm/IR/Function.h>

#include "codegen/codegen.h"
#include "transform/acyclic_functions.h"
#include "translation_unit.h"

namespace telltale::instrument {

// Can a clone run some of the function's calls?
bool can_sample_calls(llvm::Function& function);

// Erases the marks of `function` and inserts a check at its entry. Returns the clone for sampled
// calls. It has the marks, and a further parameter: an i64, the offset in bytes of the unit's
// countdown for this call.
llvm::Function* make_call_sampler(llvm::Function& function, const TranslationUnit& unit,
                                  Codegen& codegen, AcyclicFunctions& acyclic_functions);

}  // namespace telltale::instrument
