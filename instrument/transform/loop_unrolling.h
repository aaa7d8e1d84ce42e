// Unrolls small loops before region sampling: several iterations are one region, which means fewer
// checks, and values that only an observation needs are not kept after each iteration.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include <functional>
#include <vector>

#include "transform/cloning.h"
#include "translation_unit.h"

namespace telltale::instrument {

struct UnrolledLoop {
  std::vector<llvm::BasicBlock*> blocks;  // of the first iteration
  llvm::BasicBlock* header = nullptr;
  llvm::BasicBlock* second_header = nullptr;  // of the second iteration
};

// Unrolls the innermost loops that are small and that `wants` accepts. Values must have been
// demoted.
std::vector<UnrolledLoop> unroll_small_loops(llvm::Function& function, const TranslationUnit& unit,
                                             const std::function<bool(const llvm::Loop&)>& wants);

// Reduces the slow copy of such a loop to one iteration, because observations take far more code
// than the loop itself. After as many iterations as the fast copy has, the region ends: `counter`,
// an i32 variable, counts them, and control continues at `region_end`. Returns the block through
// which a region enters the slow copy.
llvm::BasicBlock* roll_up_slow_copy(const UnrolledLoop& loop, BodyClones& clones,
                                    llvm::AllocaInst& counter, llvm::BasicBlock* region_end);

}  // namespace telltale::instrument
