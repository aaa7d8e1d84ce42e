// -fsampler-adaptive: budgets of observations for first executions. A budget is a byte that the
// runtime sets, and renews now and then; 0 observes nothing. Observations of first executions are
// counted in bank kFirstBank of the counters, apart from the sample.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "codegen/counter_tables.h"

namespace telltale::instrument {

class FirstExecutions {
 public:
  explicit FirstExecutions(CounterTables& tables) : tables_(tables) {}

  [[nodiscard]] bool are_observed() const { return tables_.observes_first(); }

  // kOnce: of a place whose execution may be most of the run. Such a budget is never renewed.
  enum Renewal : bool { kOnce, kRenewed };
  llvm::GlobalVariable* make_budget(Renewal renewal);
  // Emits an i8: what is left of the budget.
  llvm::LoadInst* emit_load(llvm::IRBuilderBase& at, llvm::GlobalVariable* budget);
  // Emits an i1: is something left?
  llvm::Value* emit_is_left(llvm::IRBuilderBase& at, llvm::GlobalVariable* budget);
  // Emits code that takes one from a budget that was not 0. Threads may take the same one.
  void emit_take(llvm::IRBuilderBase& at, llvm::GlobalVariable* budget);

  // Emits code that leaves nothing of a budget.
  void emit_take_all(llvm::IRBuilderBase& at, llvm::GlobalVariable* budget);

  // Moves all budgets into one array, those that are renewed first, and returns it; null if there
  // are none.
  llvm::Constant* merge_budgets();
  [[nodiscard]] std::size_t budget_count() const { return renewed_.size() + once_.size(); }
  [[nodiscard]] std::size_t renewed_budget_count() const { return renewed_.size(); }

 private:
  CounterTables& tables_;
  std::vector<llvm::GlobalVariable*> renewed_;
  std::vector<llvm::GlobalVariable*> once_;
};

// The index of the counters that an observation increments: an i64.
llvm::Value* sample_bank(llvm::IRBuilderBase& at);
llvm::Value* first_bank(llvm::IRBuilderBase& at);

}  // namespace telltale::instrument
