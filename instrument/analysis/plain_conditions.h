// Conditions as LLVM's heuristics about branches know them.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <utility>
#include <vector>

#include "translation_unit.h"

namespace telltale::instrument {

// While it exists, conditions are not results of marks, which the heuristics do not know.
class PlainConditions {
 public:
  PlainConditions(llvm::Function& function, const TranslationUnit& unit);
  PlainConditions(const PlainConditions&) = delete;
  PlainConditions& operator=(const PlainConditions&) = delete;
  ~PlainConditions();

 private:
  std::vector<std::pair<llvm::BranchInst*, llvm::CallInst*>> changed_;
};

}  // namespace telltale::instrument
