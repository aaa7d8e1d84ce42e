// Code that compares a number with up to sixteen others at once, and counts the results in bytes.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace telltale::instrument {

// Emits a comparison of `value`, an i64 or i32, with operands of the same type, in vectors of 128
// bits that hold eight or sixteen of them. Then subtracts from a block of tallies
// (abi::SchemeTable::tallies): 1 from the byte of each operand that is greater than the value, of
// each that is less, and of all observations. Bytes beyond the last operand are undefined. Returns
// the new byte of observations, in the low byte of an i32.
//
// The processor has AVX2, whatever the function is compiled for.
llvm::Value* emit_vector_tallies(llvm::IRBuilderBase& at, llvm::Value& block, llvm::Value& value,
                                 llvm::ArrayRef<llvm::Value*> operands, bool is_signed);

}  // namespace telltale::instrument
