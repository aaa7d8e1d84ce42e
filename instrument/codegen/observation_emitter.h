// Emits the code of one observation of a site, where the site is.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <map>
#include <utility>

#include "codegen/counter_tables.h"
#include "codegen/operand_passing.h"

namespace telltale::instrument {

class ObservationEmitter {
 public:
  ObservationEmitter(CounterTables& tables, OperandPassing& operands)
      : tables_(tables), operands_(operands) {}

  // Emits one observation of a mark's site.
  void emit(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark, unsigned index);

  // Emits the number, from 0, of the counter that this observation increments: an i64.
  llvm::Value* emit_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                         unsigned index);
  // Emits an increment of a counter.
  void emit_increment(llvm::IRBuilderBase& at, llvm::Value* address);

 private:
  llvm::Value* emit_pair_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                              unsigned index);
  // Emits the observation of a pair. Returns false if it has no such form.
  bool emit_unsigned_pair(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                          unsigned index);
  llvm::Value* emit_return_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                bool is_signed);
  llvm::Value* emit_float_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call);
  // -ftrace-sites. `extra` may be null.
  void emit_trace(llvm::IRBuilderBase& at, llvm::Value* counter, llvm::Value* extra);
  // -ftimestamp-first, -ftimestamp-last.
  void emit_timestamps(llvm::IRBuilderBase& at, const CounterTable& table, llvm::Value* row);
  // -fannotate-sites, instead of counting.
  void emit_annotation(llvm::IRBuilderBase& at, llvm::Value* slot, const Mark& mark, unsigned row);
  void emit_bounds_update(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Site& site);
  void emit_yield(llvm::IRBuilderBase& at, const Mark& mark);
  void emit_window_begin(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark);

  CounterTables& tables_;
  OperandPassing& operands_;
  std::map<std::pair<llvm::Function*, Scheme>, llvm::AllocaInst*> annotations_;
};

}  // namespace telltale::instrument
