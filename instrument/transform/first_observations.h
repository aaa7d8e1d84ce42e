// Observations of first executions in code that the sample does not observe: in blocks that are
// executed less often than the code around them, by clang's static estimate. Rare code in a hot
// region would hardly ever be in the sample.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "codegen/codegen.h"
#include "transform/region_reach.h"
#include "translation_unit.h"

namespace telltale::instrument {

class FirstObservations {
 public:
  // Chooses blocks; `function` is not yet changed by sampling. Those that edges lead to which are
  // rare by LLVM's heuristics, if the unit's options ask for them, and those that `reach`, unless
  // it is null, says the first observed regions may not show: after loops, cases of a switch. And
  // the blocks on limit edges.
  FirstObservations(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                    const RegionReach* reach);
  // Splits limit edges (limit_edges.h), and blocks that end with an invoke before it: the result of
  // an invoke has one definition, so these are not copied. Call before values are demoted.
  static void prepare(llvm::Function& function, const TranslationUnit& unit);
  // Inserts the observations: a chosen block that has marks gets a copy in which they are observed.
  // The marks stay. Values must have been demoted. Returns the calls in these copies, but those of
  // marks.
  std::vector<llvm::CallBase*> emit();

 private:
  struct Place {
    llvm::BasicBlock* block = nullptr;
    std::vector<llvm::CallInst*> marks;
    // Of the only branch that leads here, if it has a site; without marks, also of all its copies
    // in an unrolled loop.
    llvm::CallInst* condition = nullptr;
    bool is_true = false;  // its value here
    // The blocks of these branches, if the site is in the same block: later copies of the block, as
    // another place, observe it.
    std::vector<const llvm::BasicBlock*> before;
  };
  void add_condition(Place& place) const;
  void emit(const Place& place);
  // While something is left of the budget, takes from it, counts the condition of `counted` unless
  // it is null, and goes to `observed`; then to `rest`. `at` is the end of a block.
  void emit_check(llvm::IRBuilder<>& at, llvm::GlobalVariable* budget, const Place* counted,
                  llvm::BasicBlock* observed, llvm::BasicBlock* rest);
  // The block's copy in which the marks are observed.
  llvm::BasicBlock* observe_copy(llvm::BasicBlock* block, const Place& place);

  const TranslationUnit& unit_;
  Codegen& codegen_;
  std::vector<Place> places_;
  std::vector<llvm::CallBase*> copied_calls_;
};

}  // namespace telltale::instrument
