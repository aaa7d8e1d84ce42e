// Functions of a module that may run although no code of the optimised module calls them: those
// that the loader or `exit` would have called, and destructors for which clang calls another one.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace telltale::instrument {

// A function that the loader calls before `main`.
struct Constructor {
  const llvm::Function* function = nullptr;
  bool has_key = false;  // the linker may keep another unit's copy of what it belongs to
};
llvm::SmallVector<Constructor, 4> constructors_of(const llvm::Module& module);

// Call it before optimisation, when the module has its pieces (mark_source_lines()).
void note_unseen_calls(const llvm::Module& module);

struct UnseenCalls {
  using Functions = llvm::SmallVector<const llvm::DISubprogram*, 8>;
  // Constructors that the optimiser evaluated at compile time. What they wrote is initial data now.
  Functions constructors;
  // Functions of which the optimiser removed the registration with `atexit` or `__cxa_atexit`,
  // because they do nothing.
  Functions at_exit;
  // Deleting destructors of classes for which clang calls the base class's destructor instead of
  // theirs, because it does the same. They have the lines of the one that is missing.
  Functions destructors;
};
// The functions that may run without a call that a block could name. Call after optimisation.
UnseenCalls unseen_calls(const llvm::Module& module);

}  // namespace telltale::instrument
