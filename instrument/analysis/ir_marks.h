// Marks in LLVM IR: calls of `__telltale_mark_N`, which the frontend inserted.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "translation_unit.h"

namespace telltale::instrument {

// Arguments of a mark are its number, the value that it forwards, and the operands that this value
// is compared with.
inline constexpr unsigned kFirstOperandArgument = 2;

// The mark that a call represents; null for any other instruction.
const Mark* mark_of(const llvm::Instruction& instruction, const TranslationUnit& unit);

// All calls of marks in `function`, in the order of its instructions.
std::vector<llvm::CallInst*> marks_in(llvm::Function& function, const TranslationUnit& unit);

// Erases the call. Its uses get the value that it forwards.
void erase_mark(llvm::CallInst& call);

// The index of `function` in TranslationUnit::functions, from its function-start mark, or else from
// its first mark; -1 if it has no marks.
int function_index(const llvm::Function& function, const TranslationUnit& unit);
// The same as a pointer; null if `function` has no marks.
const Function* function_of(const llvm::Function& function, const TranslationUnit& unit);

}  // namespace telltale::instrument
