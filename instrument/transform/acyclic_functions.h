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

#include "codegen/counters.h"
#include "transform/site_sampling.h"
#include "translation_unit.h"

namespace telltale::instrument {

class WholeFunctions {
 public:
  // What the module's functions are, before any is changed.
  WholeFunctions(llvm::Module& module, const Unit& unit, const Weightless& is_weightless);

  [[nodiscard]] bool is_whole(const llvm::Function& function) const {
    return whole_.contains(&function);
  }
  // May the caller's region reach through this call? Not where functions call each other in
  // circles.
  [[nodiscard]] bool joins(const llvm::CallBase& call) const;
  // Joins, and nobody looks at the countdown until it returns.
  [[nodiscard]] bool is_quiet(const llvm::CallBase& call) const;

  // Makes the slow function, and the question in the beginning.
  void part(llvm::Function& function, Counters& counters, SamplingStatistics& statistics);
  // `copy` calls what `function` calls.
  void note_copy(const llvm::Function& function, const llvm::Function& copy) {
    circles_[&copy] = circles_.at(&function);
  }
  // A call that joins, in code that is observed, or that is not.
  void lead(llvm::CallBase& call, bool observed);
  // Leads all of them, when the last function has been parted.
  void lead_calls();

 private:
  struct Copies {
    llvm::Function* fast = nullptr;
    llvm::Function* slow = nullptr;
  };
  bool is_quiet_inside(const llvm::Function& function, const Weightless& is_weightless) const;
  llvm::Function* make_copy(llvm::Function& function, const char* suffix,
                            const std::vector<llvm::CallBase*>& joining, bool observed);

  const Unit& unit_;
  std::map<const llvm::Function*, unsigned> circles_;  // functions of one number call each other
  std::set<const llvm::Function*> whole_;
  std::set<const llvm::Function*> quiet_;
  std::set<const llvm::Function*> wanted_;  // somebody will call the fast copy
  std::map<const llvm::Function*, Copies> copies_;
  std::vector<std::pair<llvm::WeakTrackingVH, bool>> calls_;
};

// Blocks of the function from which a way leads back to them.
std::set<const llvm::BasicBlock*> blocks_in_loops(const llvm::Function& function);
// Can another function be called in its place, with the same arguments?
bool can_be_called(const llvm::Function& function);
// Does the function pass each of its sites at most once, and can there be two of it?
bool is_one_region(const llvm::Function& function, const Unit& unit);

}  // namespace telltale::instrument
