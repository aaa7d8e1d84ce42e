#pragma once

#include <llvm/IR/Function.h>

namespace telltale::instrument {

// clang gives the code that copies a coroutine's parameters the line of a `co_yield` or `co_await`
// in its body. Sets the lines of all code that runs before a coroutine first suspends to that of
// the function, so that no line of the body seems to have run. Before coroutines are split.
void correct_coroutine_lines(llvm::Function& coroutine);

}  // namespace telltale::instrument
