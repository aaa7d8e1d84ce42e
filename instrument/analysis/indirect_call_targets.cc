#include "analysis/indirect_call_targets.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "analysis/ir_marks.h"

namespace telltale::instrument {
namespace {

class TargetSearch {
 public:
  explicit TargetSearch(const TranslationUnit& unit) : unit_(unit) {}

  // Follows all values to their origins. False if one is unknown.
  bool run(const llvm::Value* callee) {
    add(callee);
    while (!values_.empty()) {
      const llvm::Value* const value = values_.pop_back_val()->stripPointerCasts();
      if (seen_.insert(value).second && !follow(*value)) return false;
    }
    return true;
  }

  CallTargets found;

 private:
  void add(const llvm::Value* value) { values_.push_back(value); }

  bool follow(const llvm::Value& value) {
    if (const auto* const function = llvm::dyn_cast<llvm::Function>(&value)) {
      found.insert(function);
      return true;
    }
    if (llvm::isa<llvm::ConstantPointerNull>(value) || llvm::isa<llvm::UndefValue>(value))
      return true;
    if (const auto* const merged = llvm::dyn_cast<llvm::PHINode>(&value)) {
      for (const llvm::Use& one : merged->incoming_values()) add(one);
      return true;
    }
    if (const auto* const choice = llvm::dyn_cast<llvm::SelectInst>(&value)) {
      add(choice->getTrueValue());
      add(choice->getFalseValue());
      return true;
    }
    if (const auto* const load = llvm::dyn_cast<llvm::LoadInst>(&value))
      return add_contents(*underlying_object(load->getPointerOperand()));
    if (const auto* const formal = llvm::dyn_cast<llvm::Argument>(&value))
      return add_actual_arguments(*formal);
    const auto* const call = llvm::dyn_cast<llvm::CallInst>(&value);
    if (call == nullptr || mark_of(*call, unit_) == nullptr) return false;
    add(call->getArgOperand(1));
    return true;
  }

  static const llvm::Value* underlying_object(const llvm::Value* place) {
    for (;;) {
      place = place->stripPointerCasts();
      const auto* const element = llvm::dyn_cast<llvm::GEPOperator>(place);
      if (element == nullptr) return place;
      place = element->getPointerOperand();
    }
  }

  bool add_actual_arguments(const llvm::Argument& formal) {
    const llvm::Function& function = *formal.getParent();
    if (!function.hasLocalLinkage()) return false;
    for (const llvm::Use& use : function.uses()) {
      const auto* const call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
      if (call == nullptr || !call->isCallee(&use) || call->arg_size() <= formal.getArgNo())
        return false;
      add(call->getArgOperand(formal.getArgNo()));
    }
    return true;
  }

  // Adds all values that a variable may hold.
  bool add_contents(const llvm::Value& variable) {
    if (!variables_.insert(&variable).second) return true;
    if (const auto* const global = llvm::dyn_cast<llvm::GlobalVariable>(&variable)) {
      if (!global->hasDefinitiveInitializer()) return false;
      add_functions_in(*global->getInitializer());
      if (global->isConstant()) return true;
      return global->hasLocalLinkage() && add_stored_values(*global);
    }
    return llvm::isa<llvm::AllocaInst>(variable) && add_stored_values(variable);
  }

  void add_functions_in(const llvm::Constant& constant) {
    if (const auto* const function = llvm::dyn_cast<llvm::Function>(constant.stripPointerCasts()))
      found.insert(function);
    if (!llvm::isa<llvm::ConstantAggregate>(constant)) return;
    for (const llvm::Use& one : constant.operands())
      add_functions_in(*llvm::cast<llvm::Constant>(one.get()));
  }

  // Adds all values that are stored through an address. False if the address escapes.
  bool add_stored_values(const llvm::Value& variable) {
    llvm::SmallVector<const llvm::Value*, 8> places{&variable};
    while (!places.empty()) {
      const llvm::Value* const place = places.pop_back_val();
      for (const llvm::Use& use : place->uses()) {
        const llvm::User* const user = use.getUser();
        if (llvm::isa<llvm::GEPOperator>(user) || llvm::isa<llvm::BitCastOperator>(user)) {
          places.push_back(user);
        } else if (!does_not_escape(use)) {
          return false;
        }
      }
    }
    return true;
  }

  bool does_not_escape(const llvm::Use& use) {
    const llvm::User* const user = use.getUser();
    if (llvm::isa<llvm::LoadInst>(user) || llvm::isa<llvm::ICmpInst>(user)) return true;
    if (const auto* const store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      const llvm::Value* const value = store->getValueOperand();
      if (value == use.get()) return false;
      if (value->getType()->isPointerTy()) add(value);
      return !value->getType()->isAggregateType();
    }
    const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (instruction == nullptr) return false;
    if (instruction->isLifetimeStartOrEnd() || llvm::isa<llvm::MemSetInst>(instruction))
      return true;
    if (const auto* const copy = llvm::dyn_cast<llvm::MemTransferInst>(instruction))
      return use.getOperandNo() != 0 || add_contents(*underlying_object(copy->getRawSource()));
    // Marks only read.
    return mark_of(*instruction, unit_) != nullptr;
  }

  const TranslationUnit& unit_;
  llvm::SmallVector<const llvm::Value*, 8> values_;
  llvm::SmallPtrSet<const llvm::Value*, 8> seen_;
  llvm::SmallPtrSet<const llvm::Value*, 8> variables_;
};

}  // namespace

std::optional<CallTargets> find_call_targets(const llvm::CallBase& call,
                                             const TranslationUnit& unit) {
  if (call.isInlineAsm()) return std::nullopt;
  TargetSearch search(unit);
  if (!search.run(call.getCalledOperand())) return std::nullopt;
  return std::move(search.found);
}

}  // namespace telltale::instrument
