// How likely a region reaches a block, by LLVM's static estimate.
#pragma once

#include <llvm/IR/Function.h>

#include <set>

#include "transform/cloning.h"
#include "translation_unit.h"

namespace telltale::instrument {

// Regions begin at the entry and at the targets of back edges, and end where the next one begins.
class RegionReach {
 public:
  // Of the function as it is now, with marks or without. A region does not begin where a
  // `merged` back edge leads to.
  RegionReach(llvm::Function& function, const TranslationUnit& unit,
              const std::set<Edge>& merged = {});

  // Is it likely that the first few observed regions show the block?
  [[nodiscard]] bool is_passed(const llvm::BasicBlock& block) const {
    return passed_.contains(&block);
  }

 private:
  std::set<const llvm::BasicBlock*> passed_;
};

}  // namespace telltale::instrument
