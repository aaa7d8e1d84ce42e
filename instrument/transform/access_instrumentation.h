// Instruments accesses to shared memory for the concurrency schemes. This code runs at each access,
// sampled or not.
#pragma once

#include <llvm/IR/Function.h>

#include "codegen/codegen.h"
#include "translation_unit.h"

namespace telltale::instrument {

// Puts each marked access of atoms, atoms-rw and compare-swap between calls that watch it while a
// window is open, and counts each marked assignment of yields. Leaves marks for what is sampled:
// opening a window, and yielding. Call before marks are lowered.
void instrument_accesses(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen);

}  // namespace telltale::instrument
