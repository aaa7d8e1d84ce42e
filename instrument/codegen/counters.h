// A unit's counters in its object file, and the code that counts.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "translation_unit.h"

namespace telltale::instrument {

// The mark that a planted call names, or null for any other instruction.
const Mark* mark_of(const llvm::Instruction& instruction, const TranslationUnit& unit);

// What a scalar-pairs site counts: less, equal, greater.
inline constexpr unsigned kPairCounters = 3;

class Counters {
 public:
  // All sites that are to be counted have their rows.
  Counters(llvm::Module& module, const TranslationUnit& unit,
           const std::array<unsigned, kSchemes>& rows);

  // Emits what one observation of the mark's `index`th site does. `at` may be in code that runs
  // seldom.
  void emit_observation(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                        unsigned index);
  // Emits a call that passes all sites of a mark of scalar-pairs, of which one is due, and gives
  // the new countdown.
  llvm::Value* emit_group_observation(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                      const Mark& mark, llvm::Value* countdown);
  // The number that one site of a mark keeps under `slot`.
  llvm::Constant* counter_at(const Mark& mark, unsigned slot);
  // Adds one to a counter.
  void emit_increment(llvm::IRBuilderBase& at, llvm::Value* place);
  // An Access of runtime/sampler/unit.h.
  llvm::Constant* access_descriptor(const Mark& mark);
  // Emits all observations of a mark, in code that runs seldom and may be next to code that runs
  // often.
  void emit_cold_observation(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark);
  // Where the countdown of regions is: an i32 of the unit, or with threads of the thread. `offset`
  // is null, or says in bytes which of the unit's, from the first.
  llvm::Value* region_countdown(llvm::IRBuilderBase& at, llvm::Value* offset);
  // Emits a question to the runtime: below 0, is it time to observe? Sets the countdown, an i32
  // that `countdown` is the address of, anew.
  llvm::Value* emit_sample_check(llvm::IRBuilderBase& at, llvm::Value* countdown);
  // Of a function that takes turns: the address of the i32 that counts the calls until the next
  // one.
  llvm::GlobalVariable* make_call_counter(const llvm::Function& function);
  // Emits a question to the runtime: it is below 0, what becomes of this call? An i32.
  llvm::Value* emit_call_check(llvm::IRBuilderBase& at, llvm::GlobalVariable* turn);
  // Emits the unit's description for the runtime, and its registering and unregistering.
  void emit_registration();

 private:
  struct Table {
    llvm::GlobalVariable* counters = nullptr;
    llvm::GlobalVariable* first = nullptr;
    llvm::GlobalVariable* last = nullptr;
    llvm::GlobalVariable* kinds = nullptr;
    llvm::GlobalVariable* tallies = nullptr;
    llvm::Function* count_function = nullptr;
    unsigned rows = 0;
  };
  Table make_table(Scheme scheme, unsigned rows);
  llvm::Constant* initial_bounds(unsigned rows, llvm::GlobalVariable*& kinds);
  llvm::Value* counter_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                            unsigned index);
  llvm::Value* operand_value(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                             unsigned index);
  // Of `count` sites of a mark, from number `first` on.
  llvm::Constant* group_descriptor(const llvm::CallInst& call, const Mark& mark, unsigned first,
                                   unsigned count);
  llvm::Value* pair_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                         unsigned index);
  void emit_trace(llvm::IRBuilderBase& at, llvm::Value* place, llvm::Value* extra);
  void emit_bounds_update(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Site& site);
  void emit_yield(llvm::IRBuilderBase& at, const Mark& mark);
  void emit_window_begin(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark);
  void emit_timestamps(llvm::IRBuilderBase& at, const Table& table, llvm::Value* row);
  void emit_annotation(llvm::IRBuilderBase& at, llvm::Value* slot, const Mark& mark, unsigned row);
  // How a function of the unit is handed what a value is compared with: in registers, as memory for
  // it would be in the frame of every function that is observed. `at_once` operands are `parts`
  // arguments of the type `part`.
  struct OperandPassing {
    unsigned at_once = 0;
    unsigned parts = 0;
    llvm::Type* part = nullptr;
  };
  [[nodiscard]] OperandPassing operand_passing(llvm::Type* number);
  // Calls `observe` with the first of some operands, how many they are, and the arguments that hold
  // them, until all of the mark's operands were handed over.
  void pass_operands(
      llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark, llvm::Type* number,
      const std::function<void(unsigned, unsigned, llvm::ArrayRef<llvm::Value*>)>& observe);
  // In the beginning of such a function: its arguments from number `first` on, as an array.
  llvm::Value* make_operand_array(llvm::IRBuilderBase& at, llvm::Function& function, unsigned first,
                                  llvm::Type* number);
  // The type of such a function, which has the arguments `first` and then the operands.
  llvm::FunctionType* observer_type(llvm::Type* result, llvm::ArrayRef<llvm::Type*> first,
                                    llvm::Type* number);
  [[nodiscard]] bool has_vectors();
  llvm::Value* left_operand(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                            llvm::Type* number);
  llvm::Function* make_cold_function(const llvm::Twine& name, llvm::FunctionType* type);
  llvm::FunctionCallee runtime(llvm::StringRef name, llvm::FunctionType* type);
  llvm::Constant* make_group_descriptor(Scheme scheme, unsigned row, unsigned sites,
                                        bool is_signed);
  [[nodiscard]] bool can_count_inline() const;
  void emit_unaliased_increment(llvm::IRBuilderBase& at, llvm::Value* place);
  llvm::Function& compare_function(bool is_signed, bool is_narrow);
  static constexpr unsigned kTallyLanes = 16;
  [[nodiscard]] bool uses_pair_tallies();
  llvm::Function& tally_function(bool is_signed, bool is_narrow);
  llvm::Function& flush_function();
  void add_weak_operands(const llvm::CallInst& call, const Mark& mark);
  llvm::Constant* weak_operand_table();
  [[nodiscard]] bool has_narrow_pairs(const llvm::CallInst& call, const Mark& mark) const;
  bool emit_inline_observation(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                               const Mark& mark);
  static llvm::CallInst* call_cold(llvm::IRBuilderBase& at, llvm::Function& callee,
                                   llvm::ArrayRef<llvm::Value*> arguments);
  llvm::Function& count_function(Scheme scheme);
  llvm::Function& pairs_function();
  llvm::Function& group_function();
  llvm::Function& sample_check_function();
  llvm::Function& call_check_function();
  llvm::GlobalVariable* merge_call_counters();
  llvm::GlobalVariable* null_operand();
  llvm::GlobalVariable* variable(llvm::Constant* value, const llvm::Twine& name, bool constant);
  llvm::Constant* scheme_table();

  llvm::Module& module_;
  const TranslationUnit& unit_;
  std::array<Table, kSchemes> tables_;
  llvm::Type* counter_;
  llvm::GlobalVariable* null_operand_ = nullptr;
  std::map<std::pair<llvm::Function*, Scheme>, llvm::AllocaInst*> annotations_;
  llvm::DenseMap<const Mark*, llvm::Constant*> access_descriptors_;
  std::map<std::pair<const Mark*, unsigned>, llvm::Constant*> group_descriptors_;
  llvm::DenseSet<const Mark*> visited_marks_;
  std::map<unsigned, llvm::Constant*> weak_operands_;  // by row of scalar-pairs
  llvm::Function* pairs_function_ = nullptr;
  llvm::Function* group_function_ = nullptr;
  std::array<llvm::Function*, 4> compare_functions_{};
  std::array<llvm::Function*, 4> tally_functions_{};
  std::optional<bool> has_vectors_;
  llvm::Function* flush_function_ = nullptr;
  llvm::Function* sample_check_function_ = nullptr;
  llvm::Function* call_check_function_ = nullptr;
  std::vector<llvm::GlobalVariable*> call_counters_;
  llvm::GlobalVariable* region_countdown_ = nullptr;
};

}  // namespace telltale::instrument
