#include "transform/inlining.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <map>
#include <optional>
#include <set>

#include "transform/acyclic_functions.h"
#include "transform/constant_arguments.h"
#include "transform/inline_estimates.h"

namespace telltale::instrument {
namespace {

constexpr unsigned kLimitIfCalledOnce = 15000;
// The maximal cost of a caller.
constexpr unsigned kLargest = 100000;

class Inliner {
 public:
  Inliner(llvm::Module& module, const TranslationUnit& unit, llvm::OptimizationLevel level)
      : module_(module), unit_(unit), for_size_(level.getSizeLevel() > 0), estimates_(unit) {}

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
      estimates_.add(*function);
      if (estimates_.find(*function)->has_marks && !function->hasOptNone()) inline_into(*function);
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
        callee->isInterposable() || recursive_.contains(callee) ||
        estimates_.find(*callee) == nullptr)
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
    const InlineEstimate cost = *estimates_.find(*callee);
    // Without marks, LLVM's own inliner does it later. So it does for acyclic functions: their fast
    // paths will have no sites.
    if (!cost.has_marks && !is_called_once) return false;
    if (is_acyclic_region(*callee, unit_)) return false;
    if (estimates_.find(caller)->units + cost.units > kLargest) return false;
    return callee->hasFnAttribute(llvm::Attribute::AlwaysInline) ||
           cost.units <= (is_called_once ? kLimitIfCalledOnce
                          : for_size_    ? kInlineLimitForSize
                                         : inline_limit_of(*callee));
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
      estimates_.add_inlined(caller, *callee);
      changed = true;
    }
    if (!changed) return;
    fold_constant_arguments(caller, unit_);
    estimates_.add(caller);
  }

  llvm::Module& module_;
  const TranslationUnit& unit_;
  bool for_size_;
  InlineEstimates estimates_;
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

}  // namespace telltale::instrument
