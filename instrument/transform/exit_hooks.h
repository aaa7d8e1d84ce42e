// Functions that end the program without running destructors.
#pragma once

#include <llvm/IR/Module.h>

namespace telltale::instrument {

// Inserts a call of the runtime before each call of `_exit`, of `quick_exit`, of the exec family
// and of `daemon`: it writes the report, or, before `quick_exit`, notes the status for it.
void insert_exit_hooks(llvm::Module& module);

}  // namespace telltale::instrument
