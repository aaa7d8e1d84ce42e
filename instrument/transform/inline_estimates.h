// Estimates of what LLVM's inliner would do without instrumentation. Instrumented code is larger,
// so the inliner would decide otherwise, and programs would be slower than their observations make
// them.
#pragma once

#include <llvm/IR/Function.h>

#include <map>

#include "translation_unit.h"

namespace telltale::instrument {

// The estimate of one function, before its code is simplified.
struct InlineEstimate {
  unsigned units = 0;  // in LLVM's units of cost, with what is inlined into it
  // The number of functions with marks that are inlined into it, itself included: each begins with
  // a check for first executions.
  unsigned checks = 0;
  bool has_marks = false;  // itself
};

// LLVM's limit for functions that are optimised for size.
inline constexpr unsigned kInlineLimitForSize = 50;
// The largest cost of a function that is inlined although it is called more than once.
unsigned inline_limit_of(const llvm::Function& callee);

class InlineEstimates {
 public:
  explicit InlineEstimates(const TranslationUnit& unit) : unit_(unit) {}

  // Estimates a function, again if it has changed. Callees must be added before their callers:
  // functions that are not yet known are not inlined, as in recursion.
  void add(const llvm::Function& function);
  // `callee` has been inlined into `caller`, once.
  void add_inlined(const llvm::Function& caller, const llvm::Function& callee);
  // Null if the function is not known.
  [[nodiscard]] const InlineEstimate* find(const llvm::Function& function) const;
  // Would LLVM inline the function, if it is called more than once?
  [[nodiscard]] bool is_small(const llvm::Function& function) const;

 private:
  const TranslationUnit& unit_;
  std::map<const llvm::Function*, InlineEstimate> estimates_;
};

}  // namespace telltale::instrument
