#include "path_tracing/coroutine_lines.h"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace telltale::instrument {
namespace {

// clang emits the initial suspension before all others.
llvm::BasicBlock* first_suspending_block(llvm::Function& coroutine) {
  for (llvm::Instruction& instruction : llvm::instructions(coroutine)) {
    const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::coro_suspend)
      return instruction.getParent();
  }
  return nullptr;
}

}  // namespace

void correct_coroutine_lines(llvm::Function& coroutine) {
  llvm::BasicBlock* const suspending = first_suspending_block(coroutine);
  llvm::DISubprogram* const subprogram = coroutine.getSubprogram();
  if (suspending == nullptr || subprogram == nullptr) return;
  // The body does not lead back there.
  for (llvm::BasicBlock* const block : llvm::inverse_depth_first(suspending)) {
    for (llvm::Instruction& instruction : *block) {
      const llvm::DILocation* const location = instruction.getDebugLoc().get();
      if (location == nullptr || location->getInlinedAt() != nullptr || location->getLine() == 0)
        continue;
      instruction.setDebugLoc(
          llvm::DILocation::get(coroutine.getContext(), subprogram->getLine(), 0, subprogram));
    }
  }
}

}  // namespace telltale::instrument
