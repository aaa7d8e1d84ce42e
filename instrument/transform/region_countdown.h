// How many more regions may pass before one is observed, as the code of one function sees it.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/codegen.h"
#include "translation_unit.h"

namespace telltale::instrument {

// A variable of the unit (with threads, of the thread), and a copy of it in the frame for loops in
// which nobody else asks for it. 0 is the last region that goes unobserved.
class RegionCountdown {
 public:
  // `offset` as for Counters::region_countdown.
  RegionCountdown(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                  llvm::Value* offset = nullptr);

  void load_from_global(llvm::IRBuilderBase& at);
  void store_to_global(llvm::IRBuilderBase& at);

  // Counts down, and jumps to `slow` if it is time to observe. Otherwise to `fast`, or, if only the
  // runtime could say that it is not, to `other`, from where that comes to the same.
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
