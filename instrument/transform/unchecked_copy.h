// A third copy of the body of an interpreter's function, without checks and observations. A call
// that runs for long continues there, and returns to checked code for operations that were not
// observed.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <vector>

#include "codegen/countdowns.h"
#include "transform/cloning.h"

namespace telltale::instrument {

class UncheckedCopy {
 public:
  // Of a function with a computed jump, where regions begin at all of its targets. Values must have
  // been demoted.
  explicit UncheckedCopy(llvm::Function& function);

  // Is there such a jump, and does nothing else depend on the addresses of labels?
  [[nodiscard]] bool is_possible() const { return !targets_.empty(); }
  // Calls may leave, and return, at the targets.
  [[nodiscard]] const std::vector<llvm::BasicBlock*>& targets() const { return targets_; }
  [[nodiscard]] bool can_leave_at(const llvm::BasicBlock* block) const {
    return std::find(targets_.begin(), targets_.end(), block) != targets_.end();
  }

  // Copies the `blocks`, all but the entry, as they are now: call before checks are inserted.
  void clone(llvm::Function& function, llvm::ArrayRef<llvm::BasicBlock*> blocks);
  // The copy of a block or instruction.
  template <typename T>
  [[nodiscard]] T* clone_of(T* one) {
    return llvm::cast<T>(clones_[one]);
  }

  // Makes a block that goes on in this copy of `target` if the runtime lets the call leave, and to
  // `other` if not. The countdown with this `offset` has just ended.
  llvm::BasicBlock* make_leave_check(llvm::BasicBlock* target, llvm::BasicBlock* other,
                                     Countdowns& countdowns, llvm::Value* offset);
  // Makes a block that leads to the region that begins at `target`.
  llvm::BasicBlock* make_return(llvm::BasicBlock* target);

 private:
  // All ways between the copies lead through the jump, because variables of both meet there:
  // clang's work grows with the product of such places and variables.
  llvm::BasicBlock* make_jump(llvm::BasicBlock* target, llvm::BasicBlock* jump);

  llvm::BasicBlock* jump_ = nullptr;     // the block with the jump alone
  llvm::AllocaInst* address_ = nullptr;  // the variable with the address where it leads to
  std::vector<llvm::BasicBlock*> targets_;
  llvm::ValueToValueMapTy clones_;
};

}  // namespace telltale::instrument
