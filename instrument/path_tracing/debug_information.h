// What debuggers are told of a traced program that was not compiled with -g: lines, inlined
// functions and what path tracing keeps in frames, as readers of paths need. Descriptions of the
// program's own variables and types take longer to make than everything else that is added.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

namespace telltale::instrument {

// The variables that debuggers would find in functions of the module.
llvm::DenseSet<const llvm::DILocalVariable*> declared_variables(const llvm::Module& module);

// Removes the descriptions of these variables, of global variables, and of types. The functions of
// `module` and those inlined into them keep their names and lines. Does not change the code.
void remove_variables_and_types(llvm::Module& module,
                                const llvm::DenseSet<const llvm::DILocalVariable*>& variables);

}  // namespace telltale::instrument
