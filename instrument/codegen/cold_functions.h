// Out-of-line functions of a unit for cold paths. A call preserves most registers of its caller and
// does not alias the caller's memory.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace telltale::instrument {

// preserve_most, where clang implements it: callers need not save registers around the call. Not
// for functions that throw.
llvm::CallingConv::ID cold_calling_convention(const llvm::Module& module);
// An internal function "telltale.sampler.NAME" with an empty entry block.
llvm::Function* make_cold_function(llvm::Module& module, const llvm::Twine& name,
                                   llvm::FunctionType* type);

// Calls a function that make_cold_function made.
llvm::CallInst* call_cold(llvm::IRBuilderBase& at, llvm::Function& callee,
                          llvm::ArrayRef<llvm::Value*> arguments);

// Marks a clone that only observed or asked calls run. There the size of the frame counts more than
// speed: a recursive program may be in such a clone at each level of its recursion.
void mark_as_rare(llvm::Function& clone);

// Emits, in a rare clone, a barrier after an observation: LLVM then loads the operands of each
// observation where it is made, and does not keep them on the stack from one to the next.
void end_observation(llvm::IRBuilderBase& at);

// Declares of a runtime function that it does not alias the program's memory, and returns it. A
// cold function's own attributes do not suffice: LLVM infers others from its body.
llvm::FunctionCallee without_aliasing(llvm::FunctionCallee function);

// Calls inline assembly that LLVM assumes to alias no memory of the program, so that a loop keeps
// its values in registers across it.
llvm::CallInst* call_asm_without_aliasing(llvm::IRBuilderBase& at, llvm::Type* result,
                                          const char* code, const char* constraints,
                                          llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace telltale::instrument
