// Emits the checks that decide which regions of a function with both copies are observed in
// addition to the sample, because few have been observed so far (-fsampler-adaptive).
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "codegen/first_executions.h"

namespace telltale::instrument {

class FirstRegions {
 public:
  // With `observes_following`, each such region starts a series: the next ones are observed, too,
  // as long as control stays in the slow copy.
  FirstRegions(llvm::Function& function, FirstExecutions& first, bool observes_following);

  // The variable that holds the bank of the region that is being observed, an i64.
  [[nodiscard]] llvm::AllocaInst* bank() const { return bank_; }

  // What a branch to `slow` takes of a budget: one, all until it is renewed, or all for ever.
  enum class Takes : unsigned char { kOne, kAll, kAllForEver };
  // Makes a check block and its budget, a counter. The block branches to `slow` while the budget
  // is not used up, otherwise to `fast`.
  llvm::BasicBlock* make_check(llvm::BasicBlock* slow, llvm::BasicBlock* fast, Takes takes);
  // Makes a block that branches to `slow` while a series goes on, otherwise to `other`.
  llvm::BasicBlock* make_series_check(llvm::BasicBlock* slow, llvm::BasicBlock* other);
  [[nodiscard]] bool observes_following() const { return series_ != nullptr; }

  // Inserts such a budget's check at the beginning of `block`.
  void insert_check(llvm::BasicBlock* block, llvm::BasicBlock* slow, Takes takes);

 private:
  llvm::BasicBlock* make_block(const char* name);

  llvm::Function& function_;
  FirstExecutions& first_;
  llvm::AllocaInst* bank_;
  llvm::AllocaInst* series_ = nullptr;  // how many further regions to observe, an i32
};

// The blocks that follow the function's loops.
std::vector<llvm::BasicBlock*> blocks_after_loops(llvm::Function& function);

}  // namespace telltale::instrument
