// The concurrency schemes in code: what is done at each access to shared memory, whether or not it
// is its turn to be sampled.
#pragma once

#include <llvm/IR/Function.h>

#include "codegen/codegen.h"
#include "translation_unit.h"

namespace telltale::instrument {

// Surrounds each marked access of atoms, atoms-rw and compare-swap with what watches it while a
// window is open, and counts every marked assignment of yields. What is left of the marks is what
// is sampled: opening a window, yielding. Call before marks become counters.
void instrument_accesses(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen);

}  // namespace telltale::instrument
