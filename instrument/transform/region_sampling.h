// Sampling by regions: one question decides whether all sites of one pass through code without
// loops are observed.
#pragma once

#include "transform/acyclic_functions.h"
#include "transform/site_sampling.h"

namespace telltale::instrument {

// Replaces every mark in `function`, which `whole` was told of: docs/design/sampler-compiler.md,
// "Sampling".
void sample_by_regions(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                       const IsWeightless& is_weightless, AcyclicFunctions& acyclic_functions,
                       SamplingStatistics& statistics);

}  // namespace telltale::instrument
