#include "transform/acyclic_functions.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/ir_marks.h"
#include "codegen/cold_functions.h"
#include "transform/cloning.h"
#include "transform/entry_dispatch.h"
#include "transform/first_observations.h"
#include "transform/region_reach.h"

namespace telltale::instrument {

using llvm::BasicBlock;

namespace {

// LLVM's limits of what is inlined, with something to spare, and what a check for first executions
// costs in its units.
constexpr unsigned kFastLimit = 300;
constexpr unsigned kHintedFastLimit = 400;
constexpr unsigned kCheckCost = 75;

// Removes the check for first executions with which the function begins.
void remove_check(llvm::Function& function) {
  auto* const check = llvm::cast<llvm::BranchInst>(function.getEntryBlock().getTerminator());
  auto* const is_left = llvm::cast<llvm::ICmpInst>(check->getCondition());
  // The optimiser does not remove an atomic load.
  auto* const budget = llvm::cast<llvm::Instruction>(is_left->getOperand(0));
  llvm::BranchInst::Create(check->getSuccessor(1), check->getIterator());
  check->eraseFromParent();
  is_left->eraseFromParent();
  budget->eraseFromParent();
  llvm::removeUnreachableBlocks(function);
}

// Calls `callee`, with one more argument, instead.
void call_with(llvm::CallBase& call, llvm::Function& callee, llvm::Value& argument) {
  std::vector<llvm::Value*> arguments(call.arg_begin(), call.arg_end());
  arguments.push_back(&argument);
  llvm::SmallVector<llvm::OperandBundleDef, 1> bundles;
  call.getOperandBundlesAsDefs(bundles);
  llvm::CallBase* made = nullptr;
  if (auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(&call)) {
    made = llvm::InvokeInst::Create(&callee, invoke->getNormalDest(), invoke->getUnwindDest(),
                                    arguments, bundles, "", call.getIterator());
  } else {
    auto* const plain = llvm::CallInst::Create(callee.getFunctionType(), &callee, arguments,
                                               bundles, "", call.getIterator());
    plain->setTailCallKind(llvm::cast<llvm::CallInst>(call).getTailCallKind());
    made = plain;
  }
  made->setCallingConv(callee.getCallingConv());
  made->setAttributes(call.getAttributes());
  made->copyMetadata(call);
  made->takeName(&call);
  call.replaceAllUsesWith(made);
  call.eraseFromParent();
}

}  // namespace

std::set<const BasicBlock*> blocks_in_cycles(const llvm::Function& function) {
  std::set<const BasicBlock*> found;
  for (auto group = llvm::scc_begin(&function); !group.isAtEnd(); ++group) {
    if (group.hasCycle()) found.insert(group->begin(), group->end());
  }
  return found;
}

bool has_callable_signature(const llvm::Function& function) {
  const bool is_odd =
      std::any_of(function.arg_begin(), function.arg_end(), [](const llvm::Argument& one) {
        return one.hasInAllocaAttr() || one.hasPreallocatedAttr() || one.hasSwiftErrorAttr();
      });
  return !is_odd && !function.isVarArg();
}

bool is_acyclic_region(const llvm::Function& function, const TranslationUnit& unit) {
  if (!has_callable_signature(function) || !can_be_cloned(function, false)) return false;
  for (const BasicBlock* const block : blocks_in_cycles(function)) {
    for (const llvm::Instruction& instruction : *block) {
      if (mark_of(instruction, unit) != nullptr) return false;
    }
  }
  return true;
}

AcyclicFunctions::AcyclicFunctions(llvm::Module& module, const TranslationUnit& unit,
                                   const IsWeightless& is_weightless)
    : unit_(unit), inline_estimates_(unit) {
  std::vector<const llvm::Function*> order;  // callees first
  llvm::CallGraph graph(module);
  unsigned scc_id = 0;
  for (auto group = llvm::scc_begin(&graph); !group.isAtEnd(); ++group, ++scc_id) {
    for (const llvm::CallGraphNode* const node : *group) {
      const llvm::Function* const function = node->getFunction();
      if (function == nullptr || function->isDeclaration()) continue;
      scc_ids_[function] = scc_id;
      order.push_back(function);
      inline_estimates_.add(*function);
    }
  }
  // LLVM's walk leaves out functions that nothing reaches. They may call each other, so they share
  // an id.
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration()) scc_ids_.try_emplace(&function, scc_id);
  }
  for (const llvm::Function* const function : order) {
    if (function_of(*function, unit_) == nullptr || !is_acyclic_region(*function, unit_)) continue;
    acyclic_.insert(function);
    if (body_preserves_countdown(*function, is_weightless)) countdown_preserving_.insert(function);
  }
  for (const llvm::Function* const function : order) {
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call != nullptr && can_extend_region(*call))
        needs_fast_clone_.insert(call->getCalledFunction());
    }
  }
}

bool AcyclicFunctions::can_extend_region(const llvm::CallBase& call) const {
  const llvm::Function* const callee = call.getCalledFunction();
  const llvm::Function* const caller = call.getFunction();
  if (callee == nullptr || !is_acyclic(*callee) || callee->isInterposable() ||
      caller->hasOptNone() || callee->getFunctionType() != call.getFunctionType())
    return false;
  const auto of_caller = scc_ids_.find(caller);
  return of_caller != scc_ids_.end() && of_caller->second != scc_ids_.at(callee);
}

bool AcyclicFunctions::preserves_countdown(const llvm::CallBase& call) const {
  return can_extend_region(call) && countdown_preserving_.contains(call.getCalledFunction());
}

bool AcyclicFunctions::body_preserves_countdown(const llvm::Function& function,
                                                const IsWeightless& is_weightless) const {
  const std::set<const BasicBlock*> looping = blocks_in_cycles(function);
  return std::all_of(
      llvm::inst_begin(function), llvm::inst_end(function), [&](const llvm::Instruction& one) {
        const auto* const call = llvm::dyn_cast<llvm::CallBase>(&one);
        if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call) || call->isInlineAsm() ||
            mark_of(*call, unit_) != nullptr)
          return true;
        if (preserves_countdown(*call)) return !looping.contains(call->getParent());
        const auto* const callee =
            llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
        return callee != nullptr && is_weightless(*callee);
      });
}

void AcyclicFunctions::retarget_fast(llvm::CallBase& call, bool is_passed) {
  retargeted_calls_.push_back(
      {llvm::WeakTrackingVH(&call), false, llvm::WeakTrackingVH(), is_passed});
}

void AcyclicFunctions::retarget_slow(llvm::CallBase& call, llvm::Value* bank) {
  retargeted_calls_.push_back(
      {llvm::WeakTrackingVH(&call), true, llvm::WeakTrackingVH(bank), false});
}

void AcyclicFunctions::retarget_calls() {
  for (const Retargeted& one : retargeted_calls_) {
    auto* const call = llvm::dyn_cast_or_null<llvm::CallBase>(one.call);
    if (call == nullptr) continue;
    const auto found = clones_.find(call->getCalledFunction());
    if (found == clones_.end()) continue;
    const Clones& clones = found->second;
    if (!one.observed) {
      call->setCalledFunction(one.is_passed && clones.passed != nullptr ? clones.passed
                                                                        : clones.fast);
    } else if (one.bank != nullptr) {
      call_with(*call, *clones.slow, *one.bank);
    } else {
      call->setCalledFunction(clones.slow);
      call->setCallingConv(clones.slow->getCallingConv());
    }
  }
  for (auto& [function, clones] : clones_) {
    if (clones.passed == nullptr || !clones.passed->use_empty()) continue;
    clones.passed->eraseFromParent();
    clones.passed = nullptr;
  }
}

llvm::Function* AcyclicFunctions::make_slow_clone(llvm::Function& function,
                                                  llvm::ArrayRef<llvm::Type*> extra) {
  llvm::ValueToValueMapTy clones;
  llvm::Function* const copy = clone_function(function, ".slow", extra, clones);
  llvm::Value* const bank = extra.empty() ? nullptr : copy->getArg(copy->arg_size() - 1);
  for (llvm::CallBase* const call : joining_calls(function)) {
    const auto found = clones.find(call);
    if (found != clones.end()) retarget_slow(*llvm::cast<llvm::CallBase>(found->second), bank);
  }
  return copy;
}

// With `reach`, the function and its clone begin with a check for first executions.
llvm::Function* AcyclicFunctions::make_fast_clone(llvm::Function& function, const char* suffix,
                                                  const std::vector<llvm::CallBase*>& joining,
                                                  const RegionReach* reach) {
  llvm::ValueToValueMapTy clones;
  llvm::Function* const copy = clone_function(function, suffix, {}, clones);
  for (llvm::CallBase* const call : joining) {
    const auto found = clones.find(call);
    if (found == clones.end()) continue;
    retarget_fast(*llvm::cast<llvm::CallBase>(found->second),
                  reach != nullptr && reach->is_passed(*call->getParent()));
  }
  return copy;
}

// Calls in loops are not retargeted: their number is unknown, so each call decides for itself.
std::vector<llvm::CallBase*> AcyclicFunctions::joining_calls(llvm::Function& function) const {
  const std::set<const BasicBlock*> looping = blocks_in_cycles(function);
  std::vector<llvm::CallBase*> joining;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call != nullptr && can_extend_region(*call) && !looping.contains(call->getParent()))
      joining.push_back(call);
  }
  return joining;
}

// The fast path through `function` gains only the check. The fast clone has no check, but that for
// first executions.
void AcyclicFunctions::clone_and_dispatch(llvm::Function& function, Codegen& codegen,
                                          SamplingStatistics& statistics) {
  Clones& clones = clones_[&function];
  FirstExecutions& first = codegen.first_executions;
  const bool is_inlined = inline_estimates_.is_small(function);
  std::vector<llvm::Type*> extra;
  if (first.are_observed()) extra.push_back(llvm::Type::getInt64Ty(function.getContext()));
  llvm::Function* const slow = clones.slow = make_slow_clone(function, extra);
  slow->removeFnAttr(llvm::Attribute::AlwaysInline);
  slow->removeFnAttr(llvm::Attribute::InlineHint);
  if (!slow->hasFnAttribute(llvm::Attribute::OptimizeNone)) slow->addFnAttr(llvm::Attribute::Cold);
  slow->addFnAttr(llvm::Attribute::NoInline);
  mark_as_rare(*slow);
  // Checks for first executions call it from code that is inlined. Callers that need not save
  // registers around these calls need fewer of those that they must save themselves. An unwinder
  // restores only the registers of the C convention before it continues in a handler.
  if (first.are_observed() && function.doesNotThrow() &&
      slow->getCallingConv() == llvm::CallingConv::C)
    slow->setCallingConv(cold_calling_convention(*slow->getParent()));
  ++statistics.regions;
  for (llvm::CallInst* const call : marks_in(*slow, unit_)) {
    const Mark& mark = *mark_of(*call, unit_);
    statistics.sites += static_cast<unsigned>(mark.sites.size());
    llvm::IRBuilder<> builder(call->getNextNode());
    codegen.cold_observers.emit(builder, *call, mark,
                                extra.empty() ? nullptr : slow->getArg(slow->arg_size() - 1));
    erase_mark(*call);
  }
  if (first.are_observed()) {
    FirstObservations::prepare(function, unit_);
    demote_values(function);
    FirstObservations(function, unit_, codegen, nullptr).emit();
    llvm::GlobalVariable* const budget = first.make_budget(FirstExecutions::kRenewed);
    forward_calls_if(
        function, *slow, [&](llvm::IRBuilderBase& at) { return first.emit_is_left(at, budget); },
        [&](llvm::IRBuilderBase& at) {
          first.emit_take(at, budget);
          return std::vector<llvm::Value*>{first_bank(at)};
        });
  }
  for (llvm::CallInst* const call : marks_in(function, unit_)) erase_mark(*call);
  // Also those in the copies for first executions.
  const std::vector<llvm::CallBase*> joining = joining_calls(function);
  std::optional<RegionReach> reach;
  if (first.are_observed()) reach.emplace(function, unit_);
  if (needs_fast_clone_.contains(&function)) {
    clones.fast =
        make_fast_clone(function, ".fast", joining, reach.has_value() ? &*reach : nullptr);
    if (reach.has_value() && is_inlined) {
      clones.passed = make_fast_clone(function, ".passed", joining, &*reach);
      // The checks for first executions, in the function and in what is inlined into it, must not
      // change LLVM's decision.
      const std::string limit = std::to_string(
          (function.hasFnAttribute(llvm::Attribute::InlineHint) ? kHintedFastLimit : kFastLimit) +
          kCheckCost * inline_estimates_.find(function)->checks);
      for (llvm::Function* const clone : {clones.fast, clones.passed})
        clone->addFnAttr("function-inline-threshold", limit);
      remove_check(*clones.passed);
    }
  }
  for (llvm::CallBase* const call : joining)
    retarget_fast(*call, reach.has_value() && reach->is_passed(*call->getParent()));
  const auto place = [&](llvm::IRBuilderBase& at) {
    return codegen.countdowns.region_countdown(at, nullptr);
  };
  dispatch_calls(function, *slow, unit_.options.predict_checks, place,
                 [&](llvm::IRBuilderBase& at) {
                   std::vector<llvm::Value*> bank;
                   if (first.are_observed()) bank.push_back(sample_bank(at));
                   return Dispatch{codegen.countdowns.emit_sample_check(at, place(at)), bank};
                 });
}

}  // namespace telltale::instrument
