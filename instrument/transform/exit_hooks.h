// Ways out of the program that run no destructors.
#pragma once

#include <llvm/IR/Module.h>

namespace telltale::instrument {

// Calls the runtime before `_exit`, the functions of the exec family, and `daemon`, so that the
// report so far is written.
void insert_exit_hooks(llvm::Module& module);

}  // namespace telltale::instrument
