// Functions that count their calls, and of which another takes over now and then.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <vector>

namespace telltale::instrument {

// What is to be done with a call that the countdown has run out for: if `leaves`, an i1, it goes to
// another function, with arguments behind its own.
struct Dispatch {
  llvm::Value* is_taken = nullptr;
  std::vector<llvm::Value*> extra_arguments;
};

// `place` emits the address of an i32. The function counts it down when it is entered; below 0 the
// call goes to a function of its own, so that the code here saves nothing for it. There `ask` emits
// the question, which sets the countdown anew, and the call goes to `other` or back.
void dispatch_calls(llvm::Function& function, llvm::Function& other, bool predict,
                    const std::function<llvm::Value*(llvm::IRBuilderBase&)>& countdown_address,
                    const std::function<Dispatch(llvm::IRBuilderBase&)>& emit_decision);

}  // namespace telltale::instrument
