// Functions that pass each of their sites at most once: one region, whose slow copy is a function
// of its own. Code that has been decided about goes on in the fast or the slow one without asking
// again: a region reaches through the calls of such functions.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ValueHandle.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "codegen/codegen.h"
#include "transform/site_sampling.h"
#include "translation_unit.h"

namespace telltale::instrument {

class AcyclicFunctions {
 public:
  // What the module's functions are, before any is changed.
  AcyclicFunctions(llvm::Module& module, const TranslationUnit& unit,
                   const IsWeightless& is_weightless);

  [[nodiscard]] bool is_acyclic(const llvm::Function& function) const {
    return acyclic_.contains(&function);
  }
  // May the caller's region reach through this call? Not where functions call each other in
  // circles.
  [[nodiscard]] bool can_extend_region(const llvm::CallBase& call) const;
  // Joins, and nobody looks at the countdown until it returns.
  [[nodiscard]] bool preserves_countdown(const llvm::CallBase& call) const;

  // Makes the slow function, and the question in the beginning.
  void clone_and_dispatch(llvm::Function& function, Codegen& codegen,
                          SamplingStatistics& statistics);
  // `copy` calls what `function` calls.
  void add_clone(const llvm::Function& function, const llvm::Function& copy) {
    scc_ids_[&copy] = scc_ids_.at(&function);
  }
  // A call that joins, in code that is observed, or that is not.
  void retarget(llvm::CallBase& call, bool observed);
  // Leads all of them, when the last function has been parted.
  void retarget_calls();

 private:
  struct Clones {
    llvm::Function* fast = nullptr;
    llvm::Function* slow = nullptr;
  };
  bool body_preserves_countdown(const llvm::Function& function,
                                const IsWeightless& is_weightless) const;
  llvm::Function* make_clone(llvm::Function& function, const char* suffix,
                             const std::vector<llvm::CallBase*>& joining, bool observed);

  const TranslationUnit& unit_;
  std::map<const llvm::Function*, unsigned> scc_ids_;  // functions of one number call each other
  std::set<const llvm::Function*> acyclic_;
  std::set<const llvm::Function*> countdown_preserving_;
  std::set<const llvm::Function*> needs_fast_clone_;  // somebody will call the fast copy
  std::map<const llvm::Function*, Clones> clones_;
  std::vector<std::pair<llvm::WeakTrackingVH, bool>> retargeted_calls_;
};

// Blocks of the function from which a way leads back to them.
std::set<const llvm::BasicBlock*> blocks_in_cycles(const llvm::Function& function);
// Can another function be called in its place, with the same arguments?
bool has_callable_signature(const llvm::Function& function);
// Does the function pass each of its sites at most once, and can there be two of it?
bool is_acyclic_region(const llvm::Function& function, const TranslationUnit& unit);

}  // namespace telltale::instrument
