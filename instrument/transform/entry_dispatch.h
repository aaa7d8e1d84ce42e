// Dispatch at function entry: a function counts its calls, and passes some of them to another
// function.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <vector>

namespace telltale::instrument {

// The decision about a call whose countdown has reached its end: if `is_taken`, an i1, it goes to
// the other function, with further arguments.
struct Dispatch {
  llvm::Value* is_taken = nullptr;
  std::vector<llvm::Value*> extra_arguments;
};

// Inserts a countdown at the entry of `function`. `countdown_address` emits the address of its i32.
// Below 0, the call goes to a cold dispatcher, so that the fast path needs no callee-saved
// registers. In the dispatcher `emit_decision` emits code that sets the countdown and decides; the
// call goes to `other` or back to `function`.
void dispatch_calls(llvm::Function& function, llvm::Function& other, bool predict,
                    const std::function<llvm::Value*(llvm::IRBuilderBase&)>& countdown_address,
                    const std::function<Dispatch(llvm::IRBuilderBase&)>& emit_decision);

// Inserts a check at the entry of `function`, which passes the call to `other` with further
// arguments if a condition, an i1 that `emit_condition` emits, holds. `emit_taken` emits code for
// that case and returns the arguments.
void forward_calls_if(
    llvm::Function& function, llvm::Function& other,
    const std::function<llvm::Value*(llvm::IRBuilderBase&)>& emit_condition,
    const std::function<std::vector<llvm::Value*>(llvm::IRBuilderBase&)>& emit_taken);

}  // namespace telltale::instrument
