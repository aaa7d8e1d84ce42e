// Emits observations on cold paths. Most of the work is in out-of-line functions, which do not
// alias the caller's memory.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <array>

#include "codegen/counter_tables.h"
#include "codegen/observation_emitter.h"
#include "codegen/operand_passing.h"
#include "codegen/pair_comparisons.h"
#include "codegen/pair_tallies.h"
#include "codegen/variables_by_address.h"

namespace telltale::instrument {

class ColdObservers {
 public:
  ColdObservers(CounterTables& tables, OperandPassing& operands, ObservationEmitter& observations)
      : tables_(tables),
        operands_(operands),
        observations_(observations),
        comparisons_(tables, operands),
        tallies_(tables, operands, comparisons_),
        variables_(tables, operands) {}

  // Emits observations of all sites of a mark. `bank`, an i64, selects the counters if they have
  // two banks; null is the sample's.
  void emit(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
            llvm::Value* bank = nullptr);
  // -fno-sample: is one call for all pairs of this mark faster than code for each?
  [[nodiscard]] bool is_better_as_call(const llvm::CallInst& call, const Mark& mark);
  // Emits the observation of one site with a counter that is known.
  void emit_count(llvm::IRBuilderBase& at, const Mark& mark, unsigned slot, llvm::Value* bank);

  // Call once, when all observations are emitted.
  void finish() { tallies_.finish(); }

  // Site sampling: emits calls that subtract all sites of a scalar-pairs mark from `countdown`, an
  // i32, and observe those that are due. Returns the new countdown.
  llvm::Value* emit_group_check(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                const Mark& mark, llvm::Value* countdown);

 private:
  void emit_pairs(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                  llvm::Value* bank);
  void emit_inline_pairs(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                         llvm::Value* bank);
  void emit_counts(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                   llvm::Value* bank);
  llvm::Value* row_in_bank(llvm::IRBuilderBase& at, Scheme scheme, std::uint64_t row,
                           llvm::Value* bank);
  llvm::Function& count_function(Scheme scheme);
  llvm::Function& pairs_function();
  llvm::Function& group_function();

  CounterTables& tables_;
  OperandPassing& operands_;
  ObservationEmitter& observations_;
  PairComparisons comparisons_;
  PairTallies tallies_;
  VariablesByAddress variables_;
  std::array<llvm::Function*, kSchemeCount> count_functions_{};
  llvm::Function* pairs_function_ = nullptr;
  llvm::Function* group_function_ = nullptr;
};

}  // namespace telltale::instrument
