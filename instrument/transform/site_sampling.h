// Site sampling: the countdown counts sites. A function has two copies; the fast one only counts
// down.
#pragma once

#include <llvm/IR/Function.h>

#include "analysis/callee_weights.h"
#include "codegen/codegen.h"
#include "translation_unit.h"

namespace telltale::instrument {

struct SamplingStatistics {
  unsigned functions = 0;
  unsigned without_copies = 0;  // cannot be cloned: each site has its own check
  unsigned regions = 0;
  unsigned weightless_regions = 0;
  unsigned singleton_regions = 0;
  unsigned sites = 0;
};

// Lowers all marks of `function` to sampled observations.
void sample_sites(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                  const IsWeightless& is_weightless, SamplingStatistics& statistics);

// -fno-sample: lowers all marks of `function` to observations that are always made.
void observe_all_sites(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen);

}  // namespace telltale::instrument
