// Region sampling: one check decides about all sites of one pass through code without loops.
#pragma once

#include "transform/acyclic_functions.h"
#include "transform/site_sampling.h"

namespace telltale::instrument {

// Lowers all marks of `function`, which `acyclic_functions` has classified; see "Sampling" in
// docs/design/sampler-compiler.md.
void sample_by_regions(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                       const IsWeightless& is_weightless, AcyclicFunctions& acyclic_functions,
                       SamplingStatistics& statistics);

}  // namespace telltale::instrument
