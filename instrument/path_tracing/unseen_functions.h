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
  // Lines of its code, in its own file:
  // that may have run in a vanished call, or in an unseen one (unseen_calls.h);
  std::set<unsigned> vanished;
  // all of them, if no code of the function is left, and it is gone in some block
  // (functions_gone(), calls_gone()), or called by one of which a call is gone.
  std::set<unsigned> removed;
  // Those of the module, in the order of its code, if a call of it is gone, or it is called by one
  // of which a call is gone.
  std::vector<const llvm::DISubprogram*> callees;
};
// In the order of their code. Call it when the lines of all functions have been collected
// (collect_source_lines()).
std::vector<UnseenFunction> unseen_functions(const llvm::Module& module);

}  // namespace telltale::instrument
