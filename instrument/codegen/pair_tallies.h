// Counts pairs in bytes (abi::SchemeTable::tallies), in a cold function of the unit.
#pragma once

#include <array>

#include "codegen/operand_passing.h"
#include "codegen/pair_comparisons.h"

namespace telltale::instrument {

class PairTallies {
 public:
  PairTallies(CounterTables& tables, OperandPassing& operands, PairComparisons& comparisons)
      : tables_(tables), operands_(operands), comparisons_(comparisons) {}

  // Bytes lose what another thread counts at the same time, so they are not used with -fthreads.
  // They lose what a signal handler counts, too, which matters only if everything is counted: with
  // -fno-sample, a handler that interrupts the function calls that of PairComparisons.
  [[nodiscard]] bool is_enabled();

  // void (row of the first site, value, number of sites, operands ...). Value and operands are i64,
  // or i32 if `is_narrow`.
  llvm::Function& function(bool is_signed, bool is_narrow);

 private:
  llvm::Function& flush_function();

  CounterTables& tables_;
  OperandPassing& operands_;
  PairComparisons& comparisons_;
  std::array<llvm::Function*, 4> functions_{};
  llvm::Function* flush_function_ = nullptr;
  llvm::GlobalVariable* guard_ = nullptr;  // with -fno-sample: are tallies in use?
};

}  // namespace telltale::instrument
