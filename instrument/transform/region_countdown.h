// The countdown of regions in one function.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/codegen.h"
#include "translation_unit.h"

namespace telltale::instrument {

// A global variable of the unit, or of the thread with -fthreads, and a local copy of it for loops
// in which nothing else reads it. 0 is the last region that is not observed.
class RegionCountdown {
 public:
  // `offset` as for Countdowns::region_countdown().
  RegionCountdown(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                  llvm::Value* offset = nullptr);

  void load_from_global(llvm::IRBuilderBase& at);
  void store_to_global(llvm::IRBuilderBase& at);

  // Decrements the countdown and branches to `slow` if the region is observed. Otherwise branches
  // to `fast`, or, if only the runtime could decide, to `not_due`, which leads to the same code.
  void emit_check(llvm::IRBuilderBase& at, bool is_cached, llvm::BasicBlock* fast,
                  llvm::BasicBlock* slow, llvm::BasicBlock* not_due);

 private:
  llvm::Value* local();
  llvm::Value* global(llvm::IRBuilderBase& at) {
    return codegen_.countdowns.region_countdown(at, offset_);
  }

  llvm::Function& function_;
  const TranslationUnit& unit_;
  Codegen& codegen_;
  llvm::Value* offset_;
  llvm::IntegerType* word_;
  llvm::Value* local_ = nullptr;
};

}  // namespace telltale::instrument
