// Which callees can reach a site of this unit. A call of one that cannot is weightless: the
// countdown is the same before and after it. The rules are in docs/formats/sampler.md.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <set>
#include <string>

#include "translation_unit.h"

namespace telltale::instrument {

class CalleeWeights {
 public:
  // Reads the marks of `module`.
  CalleeWeights(const llvm::Module& module, const TranslationUnit& unit);

  [[nodiscard]] bool is_weightless(const llvm::Function& callee) const;
  // The same for an indirect call; always false without -fuse-points-to.
  [[nodiscard]] bool is_weightless(const llvm::CallBase& call) const;

 private:
  [[nodiscard]] bool calls_weighty(const llvm::Function& function) const;

  const TranslationUnit& unit_;
  std::set<const llvm::Function*> weighty_;
};

// CalleeWeights::is_weightless() of a function.
using IsWeightless = std::function<bool(const llvm::Function&)>;

// A function attribute of indirect calls that are weightless.
inline constexpr const char* kWeightlessCall = "telltale-weightless";
// Adds it.
void annotate_weightless_calls(llvm::Module& module, const CalleeWeights& weights);

// The functions that `#pragma sampler_assume_weightless("f")` names.
std::set<std::string, std::less<>>& weightless_by_pragma();

}  // namespace telltale::instrument
