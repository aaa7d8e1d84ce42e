// Markers that other tools use to find sites.
#pragma once

#include <llvm/IR/Module.h>

#include "translation_unit.h"

namespace telltale::instrument {

// -fadd-blast-markers: inserts a call of `cbi_blastMarker(int row, int outcome)` at each site of
// branches, and in main a call of `cbi_blastTerminationMarker()` before each instruction that may
// end the program: returns, calls that do not return, inline assembly, and accesses through
// pointers or indices. Both functions are empty and weak, so that a program may define its own. All
// sites have their rows.
void add_blast_markers(llvm::Module& module, const TranslationUnit& unit);

}  // namespace telltale::instrument
