#include "transform/acyclic_functions.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>

#include "codegen/cfg_writer.h"
#include "transform/cloning.h"
#include "transform/entry_dispatch.h"

namespace telltale::instrument {

using llvm::BasicBlock;

std::set<const BasicBlock*> blocks_in_loops(const llvm::Function& function) {
  std::set<const BasicBlock*> found;
  for (auto group = llvm::scc_begin(&function); !group.isAtEnd(); ++group) {
    if (group.hasCycle()) found.insert(group->begin(), group->end());
  }
  return found;
}

bool can_be_called(const llvm::Function& function) {
  const bool is_odd =
      std::any_of(function.arg_begin(), function.arg_end(), [](const llvm::Argument& one) {
        return one.hasInAllocaAttr() || one.hasPreallocatedAttr() || one.hasSwiftErrorAttr();
      });
  return !is_odd && !function.isVarArg();
}

bool is_one_region(const llvm::Function& function, const Unit& unit) {
  if (!can_be_called(function) || !can_be_copied(function, false)) return false;
  for (const BasicBlock* const block : blocks_in_loops(function)) {
    for (const llvm::Instruction& instruction : *block) {
      if (mark_of(instruction, unit) != nullptr) return false;
    }
  }
  return true;
}

WholeFunctions::WholeFunctions(llvm::Module& module, const Unit& unit,
                               const Weightless& is_weightless)
    : unit_(unit) {
  std::vector<const llvm::Function*> order;  // callees first
  llvm::CallGraph graph(module);
  unsigned circle = 0;
  for (auto group = llvm::scc_begin(&graph); !group.isAtEnd(); ++group, ++circle) {
    for (const llvm::CallGraphNode* const node : *group) {
      const llvm::Function* const function = node->getFunction();
      if (function == nullptr || function->isDeclaration()) continue;
      circles_[function] = circle;
      order.push_back(function);
    }
  }
  // Those that nobody can reach may call each other, too.
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration()) circles_.try_emplace(&function, circle);
  }
  for (const llvm::Function* const function : order) {
    if (function_of(*function, unit_) == nullptr || !is_one_region(*function, unit_)) continue;
    whole_.insert(function);
    if (is_quiet_inside(*function, is_weightless)) quiet_.insert(function);
  }
  for (const llvm::Function* const function : order) {
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call != nullptr && joins(*call)) wanted_.insert(call->getCalledFunction());
    }
  }
}

bool WholeFunctions::joins(const llvm::CallBase& call) const {
  const llvm::Function* const callee = call.getCalledFunction();
  const llvm::Function* const caller = call.getFunction();
  if (callee == nullptr || !is_whole(*callee) || callee->isInterposable() || caller->hasOptNone() ||
      callee->getFunctionType() != call.getFunctionType())
    return false;
  const auto of_caller = circles_.find(caller);
  return of_caller != circles_.end() && of_caller->second != circles_.at(callee);
}

bool WholeFunctions::is_quiet(const llvm::CallBase& call) const {
  return joins(call) && quiet_.contains(call.getCalledFunction());
}

bool WholeFunctions::is_quiet_inside(const llvm::Function& function,
                                     const Weightless& is_weightless) const {
  const std::set<const BasicBlock*> looping = blocks_in_loops(function);
  return std::all_of(
      llvm::inst_begin(function), llvm::inst_end(function), [&](const llvm::Instruction& one) {
        const auto* const call = llvm::dyn_cast<llvm::CallBase>(&one);
        if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call) || call->isInlineAsm() ||
            mark_of(*call, unit_) != nullptr)
          return true;
        if (is_quiet(*call)) return !looping.contains(call->getParent());
        const auto* const callee =
            llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
        return callee != nullptr && is_weightless(*callee);
      });
}

void WholeFunctions::lead(llvm::CallBase& call, bool observed) {
  calls_.emplace_back(llvm::WeakTrackingVH(&call), observed);
}

void WholeFunctions::lead_calls() {
  for (const auto& [handle, observed] : calls_) {
    auto* const call = llvm::dyn_cast_or_null<llvm::CallBase>(handle);
    if (call == nullptr) continue;
    const auto found = copies_.find(call->getCalledFunction());
    if (found == copies_.end()) continue;
    call->setCalledFunction(observed ? found->second.slow : found->second.fast);
  }
}

llvm::Function* WholeFunctions::make_copy(llvm::Function& function, const char* suffix,
                                          const std::vector<llvm::CallBase*>& joining,
                                          bool observed) {
  llvm::ValueToValueMapTy copies;
  llvm::Function* const copy = copy_of(function, suffix, {}, copies);
  for (llvm::CallBase* const call : joining) {
    if (const auto found = copies.find(call); found != copies.end())
      lead(*llvm::cast<llvm::CallBase>(found->second), observed);
  }
  return copy;
}

// The fast function is no larger than it was, but for the question, and a copy of it knows not even
// that.
void WholeFunctions::part(llvm::Function& function, Counters& counters,
                          SamplingStatistics& statistics) {
  const std::set<const BasicBlock*> looping = blocks_in_loops(function);
  std::vector<llvm::CallBase*> joining;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    // In a loop each call decides for itself: nobody knows how many there will be.
    if (call != nullptr && joins(*call) && !looping.contains(call->getParent()))
      joining.push_back(call);
  }
  Copies& copies = copies_[&function];
  llvm::Function* const slow = copies.slow = make_copy(function, ".slow", joining, true);
  slow->removeFnAttr(llvm::Attribute::AlwaysInline);
  slow->removeFnAttr(llvm::Attribute::InlineHint);
  if (!slow->hasFnAttribute(llvm::Attribute::OptimizeNone)) slow->addFnAttr(llvm::Attribute::Cold);
  slow->addFnAttr(llvm::Attribute::NoInline);
  ++statistics.regions;
  for (llvm::CallInst* const call : marks_in(*slow, unit_)) {
    const Mark& mark = *mark_of(*call, unit_);
    statistics.sites += static_cast<unsigned>(mark.sites.size());
    llvm::IRBuilder<> builder(call->getNextNode());
    counters.observe_seldom(builder, *call, mark);
    remove_mark(*call);
  }
  for (llvm::CallInst* const call : marks_in(function, unit_)) remove_mark(*call);
  if (wanted_.contains(&function)) copies.fast = make_copy(function, ".fast", joining, false);
  for (llvm::CallBase* const call : joining) lead(*call, false);
  const auto place = [&](llvm::IRBuilderBase& at) {
    return counters.region_countdown(at, nullptr);
  };
  divert_calls(function, *slow, unit_.options.predict_checks, place, [&](llvm::IRBuilderBase& at) {
    return Diversion{counters.ask_whether_due(at, place(at)), {}};
  });
}

}  // namespace telltale::instrument
