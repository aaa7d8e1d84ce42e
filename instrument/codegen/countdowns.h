// The countdowns of region and call sampling, and the checks that run when one reaches its end.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "codegen/counter_tables.h"

namespace telltale::instrument {

class Countdowns {
 public:
  explicit Countdowns(CounterTables& tables) : tables_(tables) {}

  // Emits the address of the countdown of regions: an i32 of the unit, or with -fthreads of the
  // thread. `offset` selects one of the unit's countdowns by its distance in bytes from the first;
  // null is the first.
  llvm::Value* region_countdown(llvm::IRBuilderBase& at, llvm::Value* offset);
  // Emits a call to the runtime for a countdown that is below 0: it sets the next one and returns
  // an i1, whether to observe the region.
  llvm::Value* emit_sample_check(llvm::IRBuilderBase& at, llvm::Value* countdown);

  // Makes the abi::CallCounter of a function with call sampling. It begins with an i32 that counts
  // calls down.
  llvm::GlobalVariable* make_call_counter(const llvm::Function& function);
  // Emits a call to the runtime for a counter that is below 0. Returns an i32: 0 if this call is
  // skipped, otherwise 1 + the index of the unit's countdown that decides about its regions.
  llvm::Value* emit_call_check(llvm::IRBuilderBase& at, llvm::GlobalVariable* counter);

  // The unit's countdowns for its descriptor; null if it has none of its own.
  [[nodiscard]] llvm::Constant* unit_countdowns() const;
  // Moves all call counters into one array and returns it; null if there are none.
  llvm::Constant* merge_call_counters();
  [[nodiscard]] std::size_t call_counter_count() const { return call_counters_.size(); }

 private:
  llvm::Function& sample_check_function();
  llvm::Function& call_check_function();

  CounterTables& tables_;
  llvm::GlobalVariable* region_countdown_ = nullptr;
  llvm::Function* sample_check_function_ = nullptr;
  llvm::Function* call_check_function_ = nullptr;
  std::vector<llvm::GlobalVariable*> call_counters_;
};

}  // namespace telltale::instrument
