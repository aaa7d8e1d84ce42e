// The LLVM pass of --trace.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace telltale::instrument {

// Adds the pass where optimisation ends, and one that marks lines where it begins.
void register_path_tracing(llvm::PassBuilder& builder);

}  // namespace telltale::instrument
