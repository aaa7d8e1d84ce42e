// The sampling transformation: two copies of a function, of which the fast one only counts down.
#pragma once

#include <llvm/IR/Function.h>

#include "analysis/callee_weights.h"
#include "codegen/codegen.h"
#include "translation_unit.h"

namespace telltale::instrument {

struct SamplingStatistics {
  unsigned functions = 0;
  unsigned without_copies = 0;  // the code cannot be copied: each site asks for itself
  unsigned regions = 0;
  unsigned weightless_regions = 0;
  unsigned singleton_regions = 0;
  unsigned sites = 0;
};

// Replaces every mark in `function` by sampled observations.
void sample_sites(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                  const IsWeightless& is_weightless, SamplingStatistics& statistics);

// Replaces every mark in `function` by observations that are always made.
void observe_all_sites(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen);

}  // namespace telltale::instrument
