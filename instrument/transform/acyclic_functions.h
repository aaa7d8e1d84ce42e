// Acyclic functions reach each of their sites at most once. They are one region, whose slow copy is
// a separate function. Code that has already decided calls the fast or the slow function
// directly: a region extends through calls of acyclic functions.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ValueHandle.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "codegen/codegen.h"
#include "transform/inline_estimates.h"
#include "transform/region_reach.h"
#include "transform/site_sampling.h"
#include "translation_unit.h"

namespace telltale::instrument {

class AcyclicFunctions {
 public:
  // Classifies the module's functions. Call before any of them is changed.
  AcyclicFunctions(llvm::Module& module, const TranslationUnit& unit,
                   const IsWeightless& is_weightless);

  [[nodiscard]] bool is_acyclic(const llvm::Function& function) const {
    return acyclic_.contains(&function);
  }
  // Does the caller's region extend through this call? Not within a strongly connected component of
  // the call graph.
  [[nodiscard]] bool can_extend_region(const llvm::CallBase& call) const;
  // Does it, and does nothing read or write the countdown until the call returns?
  [[nodiscard]] bool preserves_countdown(const llvm::CallBase& call) const;

  // Clones the slow function, and inserts the check at the entry of `function`.
  void clone_and_dispatch(llvm::Function& function, Codegen& codegen,
                          SamplingStatistics& statistics);
  // `copy` is a clone of `function`: it has the same place in the call graph.
  void add_clone(const llvm::Function& function, const llvm::Function& copy) {
    scc_ids_[&copy] = scc_ids_.at(&function);
  }
  // Registers a call through which the region extends, in code that is not observed. `is_passed`:
  // the first observed regions show this call.
  void retarget_fast(llvm::CallBase& call, bool is_passed);
  // The same in observed code. The callee counts in `bank`, an i64; null: there is one bank.
  void retarget_slow(llvm::CallBase& call, llvm::Value* bank);
  // Retargets the registered calls. Call when all functions have their clones.
  void retarget_calls();

 private:
  struct Clones {
    llvm::Function* fast = nullptr;
    llvm::Function* slow = nullptr;
    // As `fast`, without a check for first executions: for calls that the first observed regions of
    // the caller show. Null if LLVM will not inline it: then the check costs less than another
    // copy.
    llvm::Function* passed = nullptr;
  };
  bool body_preserves_countdown(const llvm::Function& function,
                                const IsWeightless& is_weightless) const;
  llvm::Function* make_slow_clone(llvm::Function& function, llvm::ArrayRef<llvm::Type*> extra);
  llvm::Function* make_fast_clone(llvm::Function& function, const char* suffix,
                                  const std::vector<llvm::CallBase*>& joining,
                                  const RegionReach* reach);
  std::vector<llvm::CallBase*> joining_calls(llvm::Function& function) const;

  const TranslationUnit& unit_;
  std::map<const llvm::Function*, unsigned> scc_ids_;  // functions with one id call each other
  std::set<const llvm::Function*> acyclic_;
  std::set<const llvm::Function*> countdown_preserving_;
  std::set<const llvm::Function*> needs_fast_clone_;  // the fast clone will be called
  std::map<const llvm::Function*, Clones> clones_;
  InlineEstimates inline_estimates_;
  struct Retargeted {
    llvm::WeakTrackingVH call;
    bool observed = false;
    llvm::WeakTrackingVH bank;
    bool is_passed = false;
  };
  std::vector<Retargeted> retargeted_calls_;
};

// The blocks of a function that are in a cycle.
std::set<const llvm::BasicBlock*> blocks_in_cycles(const llvm::Function& function);
// Can another function be called with the same arguments?
bool has_callable_signature(const llvm::Function& function);
// Does the function reach each of its sites at most once, and can it be cloned?
bool is_acyclic_region(const llvm::Function& function, const TranslationUnit& unit);

}  // namespace telltale::instrument
