// How likely a region reaches a block, by LLVM's static estimate.
#pragma once

#include <llvm/IR/Function.h>

#include <map>

#include "translation_unit.h"

namespace telltale::instrument {

// Regions begin at the entry and at the targets of back edges, and end where the next one begins.
class RegionReach {
 public:
  // Of the function as it is now. Marks may be there or not.
  RegionReach(llvm::Function& function, const TranslationUnit& unit);

  // Is it likely that the first few observed regions show the block?
  [[nodiscard]] bool is_passed(const llvm::BasicBlock& block) const;

 private:
  // The probability that a region gets to the block if it begins where that is most likely.
  std::map<const llvm::BasicBlock*, double> reach_;
};

}  // namespace telltale::instrument
