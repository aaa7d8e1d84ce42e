// How cold functions for pairs receive the operands that a value is compared with.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <map>
#include <optional>

#include "codegen/counter_tables.h"

namespace telltale::instrument {

// Operands are passed in registers: memory for them would enlarge the frame of every function that
// is observed. One call passes up to operands_per_call(); a mark with more takes several calls.
// `number` is the type of the operands, i32 or i64.
class OperandPassing {
 public:
  explicit OperandPassing(CounterTables& tables) : tables_(tables) {}

  // Do vector registers pass the operands? Eight of 128 bits then hold sixteen i64.
  [[nodiscard]] bool has_vectors();

  // The type of a function with the parameters `leading` and then the operands.
  llvm::FunctionType* function_type(llvm::Type* result, llvm::ArrayRef<llvm::Type*> leading,
                                    llvm::Type* number);

  // Emits loads of the operands of a mark's sites from `begin` on up to `end`, and calls `emit` for
  // each batch of them: the index of its first site, their number, and the arguments that hold
  // them.
  using EmitBatch =
      std::function<void(unsigned first, unsigned count, llvm::ArrayRef<llvm::Value*> arguments)>;
  void for_each_batch(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                      llvm::Type* number, unsigned begin, unsigned end, const EmitBatch& emit);
  // The same for all sites.
  void for_each_batch(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                      llvm::Type* number, const EmitBatch& emit) {
    for_each_batch(at, call, mark, number, 0, static_cast<unsigned>(mark.sites.size()), emit);
  }

  // Emits, in the entry of such a function, an array of its operands: its arguments from number
  // `first` on. The array has room for kLanes.
  llvm::Value* make_array(llvm::IRBuilderBase& at, llvm::Function& function, unsigned first,
                          llvm::Type* number);
  static constexpr unsigned kLanes = 16;

  // Emits a value that is the same wherever it is used, even if `value` is undefined.
  llvm::Value* emit_settled(llvm::IRBuilderBase& at, llvm::Value* value);
  // Emits the value of operand `index`, of the type of the mark's value; a constant as i64.
  llvm::Value* emit_operand(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                            unsigned index);
  // Emits the value that a mark compares, as a `number`. The called function freezes it: a freeze
  // here would be pushed through whole chains of additions, which takes cubic time in long blocks.
  llvm::Value* emit_value(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                          llvm::Type* number);

 private:
  struct Convention {
    unsigned operands_per_call = 0;
    unsigned arguments = 0;
    llvm::Type* argument_type = nullptr;
    [[nodiscard]] unsigned lanes() const { return operands_per_call / arguments; }
  };
  Convention convention(llvm::Type* number);

  // Whether LLVM's work for freezes would be too much.
  bool has_many_marks(const llvm::BasicBlock& block);

  CounterTables& tables_;
  std::optional<bool> has_vectors_;
  std::map<const llvm::BasicBlock*, bool> has_many_marks_;
};

}  // namespace telltale::instrument
