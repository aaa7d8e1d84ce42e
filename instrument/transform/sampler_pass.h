// The LLVM pass: replaces marks by counters, and clones functions where sampling is on.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace telltale::instrument {

// Adds the pass to the start of a compilation's pipeline. It instruments a module once, however
// often it is added.
void register_passes(llvm::PassBuilder& builder);

}  // namespace telltale::instrument
