#include "transform/inlining.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <map>
#include <optional>
#include <set>

#include "analysis/ir_marks.h"
#include "transform/acyclic_functions.h"
#include "transform/constant_arguments.h"

namespace telltale::instrument {
namespace {

// LLVM's cost units and limits: the cost of an instruction, and of a call without its arguments.
constexpr unsigned kInstruction = 5;
constexpr unsigned kCall = 25;
constexpr unsigned kLimit = 225;
// Twice LLVM's: the code has not been simplified yet.
constexpr unsigned kHintedLimit = 650;
constexpr unsigned kLimitForSize = 50;
constexpr unsigned kLimitIfCalledOnce = 15000;
// The maximal cost of a caller.
constexpr unsigned kLargest = 100000;

struct Cost {
  unsigned units = 0;
  bool has_marks = false;
};

// Instructions that disappear when variables are promoted to registers.
bool is_free(const llvm::Instruction& instruction) {
  if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) return true;
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Alloca:
    case llvm::Instruction::Ret:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::Unreachable:
    case llvm::Instruction::PHI:
      return true;
    case llvm::Instruction::Br:
      return llvm::cast<llvm::BranchInst>(instruction).isUnconditional();
    case llvm::Instruction::Load:
      return llvm::isa<llvm::AllocaInst>(instruction.getOperand(0));
    case llvm::Instruction::Store:
      return llvm::isa<llvm::AllocaInst>(instruction.getOperand(1));
    default:
      return false;
  }
}

Cost cost_of(const llvm::Function& function, const TranslationUnit& unit) {
  Cost cost;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (mark_of(instruction, unit) != nullptr) {
      cost.has_marks = true;
    } else if (!is_free(instruction)) {
      cost.units += kInstruction;
      const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call != nullptr && !llvm::isa<llvm::IntrinsicInst>(call))
        cost.units += kCall + kInstruction * call->arg_size();
    }
  }
  return cost;
}

// The largest cost of a function that is inlined although it is called more than once.
unsigned limit_of(const llvm::Function& callee) {
  if (callee.hasOptSize() || callee.hasMinSize()) return kLimitForSize;
  return callee.hasFnAttribute(llvm::Attribute::InlineHint) ? kHintedLimit : kLimit;
}

class Inliner {
 public:
  Inliner(llvm::Module& module, const TranslationUnit& unit, llvm::OptimizationLevel level)
      : module_(module), unit_(unit), for_size_(level.getSizeLevel() > 0) {}

  void run() {
    llvm::CallGraph graph(module_);
    std::vector<llvm::Function*> order;  // callees first
    for (auto group = llvm::scc_begin(&graph); !group.isAtEnd(); ++group) {
      for (const llvm::CallGraphNode* const node : *group) {
        llvm::Function* const function = node->getFunction();
        if (function == nullptr || function->isDeclaration()) continue;
        order.push_back(function);
        if (group.hasCycle()) recursive_.insert(function);
      }
    }
    for (llvm::Function* const function : order) {
      costs_[function] = cost_of(*function, unit_);
      if (costs_[function].has_marks && !function->hasOptNone()) inline_into(*function);
    }
    for (auto function = order.rbegin(); function != order.rend(); ++function) {
      (*function)->removeDeadConstantUsers();
      if ((*function)->isDiscardableIfUnused() && (*function)->use_empty() &&
          inlined_.contains(*function) && !(*function)->hasComdat())
        (*function)->eraseFromParent();
    }
  }

 private:
  bool is_wanted(const llvm::CallBase& call, const llvm::Function& caller) const {
    const llvm::Function* const callee = call.getCalledFunction();
    if (callee == nullptr || callee == &caller || callee->isDeclaration() ||
        callee->isInterposable() || recursive_.contains(callee) || !costs_.contains(callee))
      return false;
    if (callee->getFunctionType() != call.getFunctionType() || call.isMustTailCall() ||
        call.isNoInline() || call.hasFnAttr(llvm::Attribute::Cold) || callee->hasOptNone() ||
        callee->hasFnAttribute(llvm::Attribute::NoInline) ||
        callee->hasFnAttribute(llvm::Attribute::PresplitCoroutine))
      return false;
    // LLVM's inliner decides about different targets.
    for (const char* const name : {"target-cpu", "target-features"}) {
      if (callee->getFnAttribute(name) != caller.getFnAttribute(name)) return false;
    }
    if (!llvm::AttributeFuncs::areInlineCompatible(caller, *callee)) return false;
    const bool is_called_once = callee->hasLocalLinkage() && callee->hasOneLiveUse();
    const Cost cost = costs_.at(callee);
    // Without marks, LLVM's own inliner does it later. So it does for acyclic functions: their fast
    // paths will have no sites.
    if (!cost.has_marks && !is_called_once) return false;
    if (is_acyclic_region(*callee, unit_)) return false;
    if (costs_.at(&caller).units + cost.units > kLargest) return false;
    return callee->hasFnAttribute(llvm::Attribute::AlwaysInline) ||
           cost.units <= (is_called_once ? kLimitIfCalledOnce
                          : for_size_    ? kLimitForSize
                                         : limit_of(*callee));
  }

  void inline_into(llvm::Function& caller) {
    std::vector<llvm::CallBase*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(caller)) {
      if (auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction)) calls.push_back(call);
    }
    bool changed = false;
    for (llvm::CallBase* const call : calls) {
      if (!is_wanted(*call, caller)) continue;
      llvm::Function* const callee = call->getCalledFunction();
      if (!llvm::isInlineViable(*callee).isSuccess()) continue;
      llvm::InlineFunctionInfo info;
      if (!llvm::InlineFunction(*call, info, true).isSuccess()) continue;
      inlined_.insert(callee);
      costs_[&caller].units += costs_[callee].units;
      changed = true;
    }
    if (!changed) return;
    fold_constant_arguments(caller, unit_);
    costs_[&caller] = cost_of(caller, unit_);
  }

  llvm::Module& module_;
  const TranslationUnit& unit_;
  bool for_size_;
  std::map<const llvm::Function*, Cost> costs_;
  std::set<const llvm::Function*> recursive_;
  std::set<const llvm::Function*> inlined_;
};

}  // namespace

void inline_small_functions(llvm::Module& module, const TranslationUnit& unit,
                            llvm::OptimizationLevel level) {
  // As LLVM does: nothing at -O0, only always_inline functions at -O1.
  if (level.getSpeedupLevel() < 2) return;
  Inliner(module, unit, level).run();
}

bool is_small(const llvm::Function& function, const TranslationUnit& unit) {
  return !function.hasFnAttribute(llvm::Attribute::NoInline) &&
         cost_of(function, unit).units <= limit_of(function);
}

}  // namespace telltale::instrument
