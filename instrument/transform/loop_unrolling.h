// Unrolls small loops before region sampling: several iterations are one region, which means fewer
// checks, and values that only an observation needs are not kept after each iteration.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include <functional>

#include "translation_unit.h"

namespace telltale::instrument {

// Unrolls the innermost loops that are small and that `wants` accepts. Values must have been
// demoted.
void unroll_small_loops(llvm::Function& function, const TranslationUnit& unit,
                        const std::function<bool(const llvm::Loop&)>& wants);

}  // namespace telltale::instrument
