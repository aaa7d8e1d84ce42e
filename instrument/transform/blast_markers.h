// What other tools than ours find sites by.
#pragma once

#include <llvm/IR/Module.h>

#include "translation_unit.h"

namespace telltale::instrument {

// -fadd-blast-markers: at each site of branches a call of `cbi_blastMarker(int row, int outcome)`,
// and in main, before it ends and before what may go wrong, one of `cbi_blastTerminationMarker()`:
// returns, calls that do not return, assembly, what is reached through a pointer or an index. Both
// do nothing and are weak, so that a program may have its own. All sites have their rows.
void add_blast_markers(llvm::Module& module, const TranslationUnit& unit);

}  // namespace telltale::instrument
