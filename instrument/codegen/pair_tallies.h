// Counts pairs in bytes (abi::SchemeTable::tallies), in a cold function of the unit.
#pragma once

#include <map>
#include <utility>

#include "codegen/operand_passing.h"
#include "codegen/pair_comparisons.h"

namespace telltale::instrument {

class PairTallies {
 public:
  PairTallies(CounterTables& tables, OperandPassing& operands, PairComparisons& comparisons)
      : tables_(tables), operands_(operands), comparisons_(comparisons) {}

  // Bytes lose what another thread counts at the same time, so with -fthreads they are used only if
  // threads have their own (ThreadSlots). They lose what a signal handler counts, too, which
  // matters only if everything is counted: with -fno-sample, a handler that interrupts the function
  // calls that of PairComparisons.
  [[nodiscard]] bool is_enabled();

  // The block of tallies for the sites from `row` on; with threads, that of slot 1. If they are
  // more than kTallySites, those of further sites follow. `bank`, an i64, may be null.
  llvm::Value* emit_block(llvm::IRBuilderBase& at, std::uint64_t row, unsigned sites,
                          llvm::Value* bank);
  // The distance between a block and the next, in bytes.
  [[nodiscard]] std::uint64_t block_stride();

  struct Kind {
    bool is_signed = false;
    bool is_narrow = false;  // value and operands are i32, otherwise i64
    bool is_short = false;   // for kTallySites / 2 sites at most, otherwise kTallySites
    auto operator<=>(const Kind&) const = default;
  };
  // void (block, value, operands ...). finish() emits its body.
  llvm::Function& function(const Kind& kind);
  // Is this such a function?
  static bool is_one(const llvm::Function& function);

  // Defines the tables and the functions. Call once, when all blocks are there.
  void finish();

 private:
  struct Counting {
    llvm::Function* function = nullptr;
    llvm::Function* exact = nullptr;  // counts in the counters, where it may not use the tallies
  };
  void define_tables();
  void define(const Kind& kind, const Counting& counting);
  llvm::Function& flush_function();
  CounterTable& table();

  CounterTables& tables_;
  OperandPassing& operands_;
  PairComparisons& comparisons_;
  std::map<Kind, Counting> functions_;
  llvm::Function* flush_function_ = nullptr;
  llvm::GlobalVariable* guard_ = nullptr;  // with -fno-sample: are tallies in use?
  // The blocks of tallies, by their first row and number of sites.
  std::map<std::pair<std::uint64_t, unsigned>, llvm::GlobalVariable*> blocks_;
};

}  // namespace telltale::instrument
