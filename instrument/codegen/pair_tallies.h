// Counts sampled pairs in bytes (abi::SchemeTable::tallies), in a cold function of the unit.
#pragma once

#include <array>

#include "codegen/operand_passing.h"

namespace telltale::instrument {

class PairTallies {
 public:
  PairTallies(CounterTables& tables, OperandPassing& operands)
      : tables_(tables), operands_(operands) {}

  // Bytes lose what a signal handler or another thread counts at the same time. They are therefore
  // used neither with -fno-sample nor with -fthreads.
  [[nodiscard]] bool is_enabled();

  // void (row of the first site, value, number of sites, operands ...). Value and operands are i64,
  // or i32 if `is_narrow`.
  llvm::Function& function(bool is_signed, bool is_narrow);

 private:
  llvm::Function& flush_function();

  CounterTables& tables_;
  OperandPassing& operands_;
  std::array<llvm::Function*, 4> functions_{};
  llvm::Function* flush_function_ = nullptr;
};

}  // namespace telltale::instrument
