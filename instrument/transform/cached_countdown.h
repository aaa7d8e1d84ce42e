// In loops in which nothing else uses it, the countdown is cached in a local variable, which
// becomes a register.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include <functional>
#include <set>

#include "transform/region_countdown.h"

namespace telltale::instrument {

// Loads the countdown where control enters an outermost loop that `preserves_countdown`, and stores
// it where control leaves. Returns the blocks of these loops. There must be no PHI nodes.
std::set<const llvm::BasicBlock*> cache_in_loops(
    llvm::Function& function, RegionCountdown& countdown,
    const std::function<bool(const llvm::Loop&)>& preserves_countdown);

}  // namespace telltale::instrument
