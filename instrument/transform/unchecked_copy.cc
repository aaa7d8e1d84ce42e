#include "transform/unchecked_copy.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "labels.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// A computed jump with fewer targets is hardly that of an interpreter.
constexpr std::size_t kManyTargets = 16;

// clang has one computed jump in each function.
BasicBlock* find_computed_jump(llvm::Function& function) {
  const auto found = llvm::find_if(function, [](const BasicBlock& block) {
    return llvm::isa<llvm::IndirectBrInst>(block.getTerminator());
  });
  return found == function.end() ? nullptr : &*found;
}

// Do nothing but computed jumps use what is loaded from the variable?
bool only_leads_on(const llvm::AllocaInst& variable) {
  return llvm::all_of(variable.users(), [&](const llvm::User* user) {
    if (const auto* const store = llvm::dyn_cast<llvm::StoreInst>(user))
      return store->getPointerOperand() == &variable;
    return llvm::isa<llvm::LoadInst>(user) &&
           llvm::all_of(user->users(),
                        [](const llvm::User* one) { return llvm::isa<llvm::IndirectBrInst>(one); });
  });
}

bool is_stored_in(const llvm::User* user, const llvm::Value& value, const llvm::Value& variable) {
  const auto* const store = llvm::dyn_cast<llvm::StoreInst>(user);
  return store != nullptr && store->getValueOperand() == &value &&
         store->getPointerOperand() == &variable;
}

// Does the variable `between` take values from one place of a block to another, and those to the
// other variable alone?
bool passes_on(const llvm::AllocaInst& between, const llvm::AllocaInst& variable) {
  return llvm::all_of(between.users(), [&](const llvm::User* user) {
    const auto* const load = llvm::dyn_cast<llvm::LoadInst>(user);
    if (load == nullptr) {
      const auto* const store = llvm::dyn_cast<llvm::StoreInst>(user);
      return store != nullptr && store->getPointerOperand() == &between;
    }
    const bool is_stored_before =
        std::any_of(load->getParent()->begin(), load->getIterator(), [&](const auto& one) {
          const auto* const store = llvm::dyn_cast<llvm::StoreInst>(&one);
          return store != nullptr && store->getPointerOperand() == &between;
        });
    return is_stored_before && llvm::all_of(load->users(), [&](const llvm::User* other) {
             return is_stored_in(other, *load, variable);
           });
  });
}

// Do nothing but stores into the variable use the value? demote_values() puts another variable
// between.
bool is_only_stored(const llvm::Value& value, const llvm::AllocaInst& variable) {
  return llvm::all_of(value.users(), [&](const llvm::User* user) {
    if (is_stored_in(user, value, variable)) return true;
    const auto* const store = llvm::dyn_cast<llvm::StoreInst>(user);
    const auto* const to =
        store == nullptr ? nullptr : llvm::dyn_cast<llvm::AllocaInst>(store->getPointerOperand());
    return to != nullptr && store->getValueOperand() == &value && passes_on(*to, variable);
  });
}

// Does nothing but loads use the table, and nothing but stores into the variable what they load?
bool is_only_loaded(const llvm::Value& table, const llvm::AllocaInst& variable) {
  return llvm::all_of(table.users(), [&](const llvm::User* user) {
    return llvm::isa<llvm::LoadInst>(user)
               ? is_only_stored(*user, variable)
               : llvm::isa<llvm::GEPOperator>(user) && is_only_loaded(*user, variable);
  });
}

// Has a label's address no other place but tables and the variable? Elsewhere it would be that of a
// label in the copy that put it there.
bool addresses_stay_in(const llvm::AllocaInst& variable, llvm::Function& function) {
  for (BasicBlock& block : function) {
    llvm::BlockAddress* const address =
        block.hasAddressTaken() ? llvm::BlockAddress::lookup(&block) : nullptr;
    if (address == nullptr) continue;
    for (const llvm::User* const user : address->users()) {
      const auto* const store = llvm::dyn_cast<llvm::StoreInst>(user);
      if (llvm::isa<llvm::Instruction>(user) &&
          (store == nullptr || store->getPointerOperand() != &variable))
        return false;
    }
  }
  const auto tables = label_tables(function);
  return tables.has_value() && llvm::all_of(*tables, [&](const llvm::GlobalVariable* table) {
           return is_only_loaded(*table, variable);
         });
}

}  // namespace

// Where only one statement jumps, the address is no variable.
UncheckedCopy::UncheckedCopy(llvm::Function& function) : jump_(find_computed_jump(function)) {
  auto* const load = jump_ == nullptr ? nullptr : llvm::dyn_cast<llvm::LoadInst>(&jump_->front());
  if (load == nullptr || load->getNextNode() != jump_->getTerminator()) return;
  address_ = llvm::dyn_cast<llvm::AllocaInst>(load->getPointerOperand());
  if (address_ == nullptr || !only_leads_on(*address_) || !addresses_stay_in(*address_, function))
    return;
  std::set<const BasicBlock*> seen;
  for (BasicBlock* const block : llvm::successors(jump_)) {
    if (seen.insert(block).second) targets_.push_back(block);
  }
  if (targets_.size() < kManyTargets) targets_.clear();
}

void UncheckedCopy::clone(llvm::Function& function, llvm::ArrayRef<BasicBlock*> blocks) {
  const std::vector<llvm::GlobalVariable*> tables =
      label_tables(function).value_or(std::vector<llvm::GlobalVariable*>());
  copy_tables(tables, ".unchecked", clones_);
  clone_blocks(blocks, ".unchecked", clones_);
  fill_copied_tables(tables, clones_);
}

BasicBlock* UncheckedCopy::make_leave_check(BasicBlock* target, BasicBlock* other,
                                            Countdowns& countdowns, llvm::Value* offset) {
  BasicBlock* const leave = make_jump(clone_of(target), clone_of(jump_));
  BasicBlock* const check =
      BasicBlock::Create(target->getContext(), "telltale.long", target->getParent(), target);
  llvm::IRBuilder<> builder(check);
  builder.CreateCondBr(countdowns.emit_may_leave(builder, offset), leave, other);
  return check;
}

BasicBlock* UncheckedCopy::make_return(BasicBlock* target) { return make_jump(target, jump_); }

BasicBlock* UncheckedCopy::make_jump(BasicBlock* target, BasicBlock* jump) {
  BasicBlock* const block =
      BasicBlock::Create(jump->getContext(), "telltale.cross", jump->getParent(), jump);
  llvm::IRBuilder<> builder(block);
  builder.CreateStore(llvm::BlockAddress::get(target), address_);
  builder.CreateBr(jump);
  return block;
}

}  // namespace telltale::instrument
