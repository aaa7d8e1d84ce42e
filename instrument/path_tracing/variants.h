// Variants of a function, of which the program chooses one (docs/formats/csi.md, "Variants").
#pragma once

#include <llvm/IR/Function.h>

#include <string>
#include <vector>

#include "path_tracing/traced_unit.h"

namespace telltale::instrument {

struct Variant {
  llvm::Function* function = nullptr;
  MechanismSet mechanisms = 0;
};

// Why the function cannot have variants, of which "it" is the subject; empty if it can.
std::string reason_against_variants(llvm::Function& function, const TracedUnit& unit);

// Replaces the body of `function` by code that calls one of its variants, copies of the old body.
// REQUIRES: at least two different sets, and no reason against it.
std::vector<Variant> replicate(llvm::Function& function, std::vector<MechanismSet> variants,
                               const TracedUnit& unit);

}  // namespace telltale::instrument
