// Reduces the debug information of a traced program that was compiled without -g: it keeps lines,
// inlined functions and the variables of path tracing, which readers of paths need. It drops the
// program's own variables and types, which take most of the time to emit.
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
