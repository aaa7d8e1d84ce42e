// Counts the pairs of one assignment in their counters, in a cold function of the unit.
#pragma once

#include <array>

#include "codegen/operand_passing.h"

namespace telltale::instrument {

class PairComparisons {
 public:
  PairComparisons(CounterTables& tables, OperandPassing& operands)
      : tables_(tables), operands_(operands) {}

  // void (counters of the first site, value, number of sites, operands ...). Value and operands are
  // i64, or i32 if `is_narrow`.
  llvm::Function& function(bool is_signed, bool is_narrow);

 private:
  CounterTables& tables_;
  OperandPassing& operands_;
  std::array<llvm::Function*, 4> functions_{};
};

}  // namespace telltale::instrument
