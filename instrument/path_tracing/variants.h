// Variants of a function, of which the program chooses one (docs/formats/csi.md, "Variants").
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

#include "trace_options.h"

namespace telltale::instrument {

struct Variant {
  llvm::Function* function = nullptr;
  MechanismSet mechanisms = 0;
};

// Replaces the body of `function` by code that calls one of its variants, copies of the old body.
// REQUIRES: at least two different sets, and no variable arguments.
std::vector<Variant> replicate(llvm::Function& function, std::vector<MechanismSet> variants,
                               const TraceOptions& options);

}  // namespace telltale::instrument
