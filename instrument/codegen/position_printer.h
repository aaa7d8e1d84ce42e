// Positions of path tracing in machine code, without text for the assembler to parse: their
// instructions and records are emitted when LLVM prints the instructions that carry their marks
// (position_marks.h).
#pragma once

#include <llvm/TargetParser/Triple.h>

namespace telltale::instrument {

// From now on, code that this process generates for the target has the positions. `triple` must
// be of a target with ELF files.
void print_positions(const llvm::Triple& triple);

}  // namespace telltale::instrument
