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
const Mark* mark_of(const llvm::Instruction& instruction, const Unit& unit);

// What a scalar-pairs site counts: less, equal, greater.
inline constexpr unsigned kPairCounters = 3;

class Counters {
 public:
  // All sites that are to be counted have their rows.
  Counters(llvm::Module& module, const Unit& unit, const std::array<unsigned, kSchemes>& rows);

  // Emits what one observation of the mark's `index`th site does. `at` may be in code that runs
  // seldom.
  void observe(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
               unsigned index);
  // Emits a call that passes all sites of a mark of scalar-pairs, of which one is due, and gives
  // the new countdown.
  llvm::Value* observe_group(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                             llvm::Value* countdown);
  // The number that one site of a mark keeps under `slot`.
  llvm::Constant* counter_at(const Mark& mark, unsigned slot);
  // Adds one to a counter.
  void count(llvm::IRBuilderBase& at, llvm::Value* place);
  // An Access of runtime/sampler/unit.h.
  llvm::Constant* access_table(const Mark& mark);
  // Emits all observations of a mark, in code that runs seldom and may be next to code that runs
  // often.
  void observe_seldom(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark);
  // Where the countdown of regions is: an i32 of the unit, or with threads of the thread. `offset`
  // is null, or says in bytes which of the unit's, from the first.
  llvm::Value* region_countdown(llvm::IRBuilderBase& at, llvm::Value* offset);
  // Emits a question to the runtime: below 0, is it time to observe? Sets the countdown, an i32
  // that `countdown` is the address of, anew.
  llvm::Value* ask_whether_due(llvm::IRBuilderBase& at, llvm::Value* countdown);
  // Of a function that takes turns: the address of the i32 that counts the calls until the next
  // one.
  llvm::GlobalVariable* make_turn(const llvm::Function& function);
  // Emits a question to the runtime: it is below 0, what becomes of this call? An i32.
  llvm::Value* ask_for_turn(llvm::IRBuilderBase& at, llvm::GlobalVariable* turn);
  // Emits the unit's description for the runtime, and its registering and unregistering.
  void emit_registration();

 private:
  struct Table {
    llvm::GlobalVariable* counters = nullptr;
    llvm::GlobalVariable* first = nullptr;
    llvm::GlobalVariable* last = nullptr;
    llvm::GlobalVariable* kinds = nullptr;
    llvm::GlobalVariable* tallies = nullptr;
    llvm::Function* bump = nullptr;
    unsigned rows = 0;
  };
  Table make_table(Scheme scheme, unsigned rows);
  llvm::Constant* first_bounds(unsigned rows, llvm::GlobalVariable*& kinds);
  llvm::Value* slot_of(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                       unsigned index);
  llvm::Value* operand_value(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                             unsigned index);
  // Of `count` sites of a mark, from number `first` on.
  llvm::Constant* group_table(const llvm::CallInst& call, const Mark& mark, unsigned first,
                              unsigned count);
  llvm::Value* pair_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                         unsigned index);
  void trace(llvm::IRBuilderBase& at, llvm::Value* place, llvm::Value* extra);
  void widen(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Site& site);
  void yield(llvm::IRBuilderBase& at, const Mark& mark);
  void open_window(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark);
  void stamp(llvm::IRBuilderBase& at, const Table& table, llvm::Value* row);
  void annotate(llvm::IRBuilderBase& at, llvm::Value* slot, const Mark& mark, unsigned row);
  // How a function of the unit is handed what a value is compared with: in registers, as memory for
  // it would be in the frame of every function that is observed. `at_once` operands are `parts`
  // arguments of the type `part`.
  struct Handing {
    unsigned at_once = 0;
    unsigned parts = 0;
    llvm::Type* part = nullptr;
  };
  [[nodiscard]] Handing handing(llvm::Type* number);
  // Calls `observe` with the first of some operands, how many they are, and the arguments that hold
  // them, until all of the mark's operands were handed over.
  void hand_over(
      llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark, llvm::Type* number,
      const std::function<void(unsigned, unsigned, llvm::ArrayRef<llvm::Value*>)>& observe);
  // In the beginning of such a function: its arguments from number `first` on, as an array.
  llvm::Value* handed_over(llvm::IRBuilderBase& at, llvm::Function& function, unsigned first,
                           llvm::Type* number);
  // The type of such a function, which has the arguments `first` and then the operands.
  llvm::FunctionType* handed_type(llvm::Type* result, llvm::ArrayRef<llvm::Type*> first,
                                  llvm::Type* number);
  [[nodiscard]] bool has_vectors();
  llvm::Value* left_of_pairs(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                             llvm::Type* number);
  llvm::Function* make_seldom(const llvm::Twine& name, llvm::FunctionType* type);
  llvm::FunctionCallee runtime(llvm::StringRef name, llvm::FunctionType* type);
  llvm::Constant* make_group(Scheme scheme, unsigned row, unsigned sites, bool is_signed);
  [[nodiscard]] bool counts_in_place() const;
  void count_unseen(llvm::IRBuilderBase& at, llvm::Value* place);
  llvm::Function& compare_all(bool is_signed, bool is_narrow);
  static constexpr unsigned kTalliedAtOnce = 16;
  [[nodiscard]] bool tallies_pairs();
  llvm::Function& tally_all(bool is_signed, bool is_narrow);
  llvm::Function& add_up();
  void note_borrowings(const llvm::CallInst& call, const Mark& mark);
  llvm::Constant* borrowing_table();
  [[nodiscard]] bool has_narrow_pairs(const llvm::CallInst& call, const Mark& mark) const;
  bool observe_in_place(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark);
  static llvm::CallInst* call_seldom(llvm::IRBuilderBase& at, llvm::Function& callee,
                                     llvm::ArrayRef<llvm::Value*> arguments);
  llvm::Function& bump(Scheme scheme);
  llvm::Function& pass_pairs();
  llvm::Function& pass_group();
  llvm::Function& due();
  llvm::Function& next_turn();
  llvm::GlobalVariable* join_turns();
  llvm::GlobalVariable* nowhere();
  llvm::GlobalVariable* variable(llvm::Constant* value, const llvm::Twine& name, bool constant);
  llvm::Constant* scheme_table();

  llvm::Module& module_;
  const Unit& unit_;
  std::array<Table, kSchemes> tables_;
  llvm::Type* counter_;
  llvm::GlobalVariable* nowhere_ = nullptr;
  std::map<std::pair<llvm::Function*, Scheme>, llvm::AllocaInst*> annotations_;
  llvm::DenseMap<const Mark*, llvm::Constant*> accesses_;
  std::map<std::pair<const Mark*, unsigned>, llvm::Constant*> groups_;
  llvm::DenseSet<const Mark*> looked_for_borrowings_;
  std::map<unsigned, llvm::Constant*> borrowings_;  // by row of scalar-pairs
  llvm::Function* pass_pairs_ = nullptr;
  llvm::Function* pass_group_ = nullptr;
  std::array<llvm::Function*, 4> compare_all_{};
  std::array<llvm::Function*, 4> tally_all_{};
  std::optional<bool> has_vectors_;
  llvm::Function* add_up_ = nullptr;
  llvm::Function* due_ = nullptr;
  llvm::Function* next_turn_ = nullptr;
  std::vector<llvm::GlobalVariable*> turns_;
  llvm::GlobalVariable* region_countdown_ = nullptr;
};

}  // namespace telltale::instrument
