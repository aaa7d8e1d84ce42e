// Out-of-line functions of a unit for cold paths. A call preserves most registers of its caller and
// does not alias the caller's memory.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace telltale::instrument {

// An internal function "telltale.sampler.NAME" with an empty entry block.
llvm::Function* make_cold_function(llvm::Module& module, const llvm::Twine& name,
                                   llvm::FunctionType* type);

// Calls a function that make_cold_function made.
llvm::CallInst* call_cold(llvm::IRBuilderBase& at, llvm::Function& callee,
                          llvm::ArrayRef<llvm::Value*> arguments);

// Declares of a runtime function that it does not alias the program's memory, and returns it. A
// cold function's own attributes do not suffice: LLVM infers others from its body.
llvm::FunctionCallee without_aliasing(llvm::FunctionCallee function);

// Calls inline assembly that LLVM assumes to alias no memory of the program, so that a loop keeps
// its values in registers across it.
llvm::CallInst* call_asm_without_aliasing(llvm::IRBuilderBase& at, llvm::Type* result,
                                          const char* code, const char* constraints,
                                          llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace telltale::instrument
