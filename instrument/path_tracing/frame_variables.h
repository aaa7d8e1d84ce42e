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

// A type for a variable with this many elements. Not an array: the stack protector would put it
// between the program's own arrays and the value that their overflow must change.
llvm::Type* frame_array_type(llvm::Type* element, std::uint64_t count);

}  // namespace telltale::instrument
