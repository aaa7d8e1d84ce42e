// Several passes of a small loop as one region: fewer questions, and what only an observation wants
// to know need not be kept after each pass.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include <functional>

#include "translation_unit.h"

namespace telltale::instrument {

// Writes the blocks of innermost loops out several times, one behind the other, if `wants` says so
// of the loop and they are small. No value may be used outside of the block that makes it.
void unroll_small_loops(llvm::Function& function, const TranslationUnit& unit,
                        const std::function<bool(const llvm::Loop&)>& wants);

}  // namespace telltale::instrument
