// Functions that end the program without running destructors.
#pragma once

#include <llvm/IR/Module.h>

namespace telltale::instrument {

// Inserts a call of the runtime before each call of `_exit`, of the exec family and of `daemon`: it
// writes the report.
void insert_exit_hooks(llvm::Module& module);

}  // namespace telltale::instrument
