// The countdowns of region and call sampling, and the checks that run when one reaches its end.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstddef>

#include "codegen/counter_tables.h"

namespace telltale::instrument {

class Countdowns {
 public:
  explicit Countdowns(CounterTables& tables) : tables_(tables) {}

  // Emits the address of the countdown of regions: an i32 of the unit, or with -fthreads of the
  // thread. `offset` selects one of the countdowns by its distance in bytes from the first; null is
  // the first.
  llvm::Value* region_countdown(llvm::IRBuilderBase& at, llvm::Value* offset);
  // Emits a call to the runtime for a countdown that is below 0: it sets the next one and returns
  // an i1, whether to observe the region.
  llvm::Value* emit_sample_check(llvm::IRBuilderBase& at, llvm::Value* countdown);

  // Emits an i1 after such a call that did not observe: may the call leave checked code, because it
  // has run for long and is not in the sample? `offset` is that of its countdown.
  llvm::Value* emit_may_leave(llvm::IRBuilderBase& at, llvm::Value* offset);

  // May functions have call counters? With -fthreads only if the unit is of an executable: each
  // thread has its own, and a library that a program opens gets little room for such variables.
  [[nodiscard]] bool can_count_calls() const;
  // The index of a new abi::CallCounter, for a function with call sampling.
  std::size_t add_call_counter() { return call_counter_count_++; }
  // Emits its address. It begins with an i32 that counts calls down.
  llvm::Value* call_counter(llvm::IRBuilderBase& at, std::size_t index);
  // Emits a call to the runtime for a counter that is below 0. Returns an i32: 0 if this call is
  // skipped, otherwise 1 + the index of the countdown that decides about its regions.
  llvm::Value* emit_call_check(llvm::IRBuilderBase& at, llvm::Value* counter);

  // The unit's countdowns for its descriptor; null if it has none of its own.
  [[nodiscard]] llvm::Constant* unit_countdowns() const;
  // Defines the array of all call counters and returns it; null if there are none.
  llvm::GlobalVariable* define_call_counters();
  [[nodiscard]] std::size_t call_counter_count() const { return call_counter_count_; }

 private:
  llvm::Function& sample_check_function();
  llvm::Function& call_check_function();
  llvm::GlobalVariable* make_call_counters(std::size_t count);

  CounterTables& tables_;
  llvm::GlobalVariable* region_countdown_ = nullptr;
  llvm::Function* sample_check_function_ = nullptr;
  llvm::Function* call_check_function_ = nullptr;
  llvm::GlobalVariable* call_counters_ = nullptr;  // of no size until they are defined
  std::size_t call_counter_count_ = 0;
};

}  // namespace telltale::instrument
