// Pairs whose right operands are variables with a constant address: one call passes a table of the
// addresses, and an out-of-line function loads the values. Code that loads each value would be most
// of an instrumented program, because an assignment is compared with all global variables of its
// type.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "codegen/counter_tables.h"
#include "codegen/operand_passing.h"

namespace telltale::instrument {

class VariablesByAddress {
 public:
  VariablesByAddress(CounterTables& tables, OperandPassing& operands)
      : tables_(tables), operands_(operands) {}

  // Consecutive sites of a mark: from `first` on, up to `end`. `table` has the addresses of their
  // operands; null: the operands are passed as values.
  struct Run {
    unsigned first = 0;
    unsigned end = 0;
    llvm::Constant* table = nullptr;
  };
  // Divides the sites of a scalar-pairs mark into runs, in their order.
  std::vector<Run> runs(const llvm::CallInst& call, const Mark& mark);

  // void (place, value, number of sites, table): loads the operands, of type `stored`, and calls
  // `counts`, of PairTallies or PairComparisons, for each batch of them. `number` is the type of
  // the operands that it takes. `place` is what it takes first; that of the next batch is `stride`
  // bytes on.
  llvm::Function& function(llvm::Function& counts, std::uint64_t stride, llvm::Type* stored,
                           llvm::Type* number, bool is_signed);

 private:
  [[nodiscard]] bool has_address(const llvm::Value& operand) const;
  llvm::Constant* table_of(const std::vector<llvm::Constant*>& addresses);

  CounterTables& tables_;
  OperandPassing& operands_;
  std::map<std::vector<llvm::Constant*>, llvm::Constant*> known_tables_;
  std::map<std::pair<llvm::Function*, llvm::Type*>, llvm::Function*> functions_;
};

}  // namespace telltale::instrument
