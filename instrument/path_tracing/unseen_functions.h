// Functions of a module that may have run although no record of a function shows it
// (docs/design/path-tracing.md, "Lines of optimised code").
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <set>
#include <vector>

namespace telltale::instrument {

// Records that the optimiser left nothing of a call by a pointer. `type`: of the called function.
void note_vanished_call(const llvm::FunctionType& type);
// Call it at the end of a module.
void forget_vanished_calls();

struct UnseenFunction {
  const llvm::DISubprogram* function;
  // Lines in the function's own file that may have run in a vanished call, or in an unseen one
  // (unseen_calls.h).
  std::set<unsigned> vanished;
  // All lines of the function in its own file, if none of its code is left, and it is in
  // functions_gone() or calls_gone() of some block, or a function in calls_gone() calls it,
  // directly or through others. Otherwise empty.
  std::set<unsigned> removed;
  // The functions of the module that it calls, in the order of its code, if it is in calls_gone()
  // of some block, or a function that is calls it, directly or through others. Otherwise empty.
  std::vector<const llvm::DISubprogram*> callees;
};
// In the order of their code. Call it when the lines of all functions have been collected
// (collect_source_lines()).
std::vector<UnseenFunction> unseen_functions(const llvm::Module& module);

}  // namespace telltale::instrument
