// Debug information of the variables that instrumentation adds to a function's frame.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace telltale::instrument {

// Declares a variable at the builder's place, in the scope of the function, so that debuggers see
// it wherever the function stops. Does nothing in functions without debug information.
void declare_variable(llvm::Function& function, llvm::IRBuilder<>& builder,
                      llvm::AllocaInst* variable, const char* name,
                      llvm::function_ref<llvm::DIType*(llvm::DIBuilder&)> make_type);

}  // namespace telltale::instrument
