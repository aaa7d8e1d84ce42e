// Which source lines run when a block of optimised code runs.
//
// The lines of a block's instructions do not tell: the optimiser computes values before a branch or
// where they are used, and merges and removes instructions. Therefore each piece of straight code
// gets a marker before optimisation, a call of `llvm.pseudoprobe`. LLVM copies markers with their
// code, does not move them to other blocks, and does not count them as code. It removes those of
// blocks that become unreachable, empty, or part of a `select`. Afterwards a block that runs has
// run the lines of its markers, and of the pieces that dominated theirs.
#pragma once

#include <llvm/IR/Module.h>

#include <vector>

namespace telltale::instrument {

struct SourceLine {
  const llvm::DILocalScope* scope;
  const llvm::DILocation* call;  // where the scope's function was inlined; null: it was not
  unsigned line;                 // not 0
  unsigned calls = 0;            // how many of the block's calls come before
};

// After optimisation: replaces the function's markers by lists of lines. A block that is copied
// keeps its lists, blocks that are merged do not.
void collect_source_lines(llvm::Function& function);

// The lines that run in a block, in their order. Without `collect_source_lines`, or if it found no
// marker, those of the block's instructions.
std::vector<SourceLine> source_lines(const llvm::BasicBlock& block);

// Lines that must have run before those of the block with as many calls before, in the same
// activation, although no block that dominates it has them: the optimiser removed their marker
// there, for example together with a branch whose condition it knew.
std::vector<SourceLine> lines_before(const llvm::BasicBlock& block);

// Lines that may have run after the block, although no later block has them: their marker was lost
// when the two sides of a branch became one, or with a copy of the code.
std::vector<SourceLine> lines_lost_after(const llvm::BasicBlock& block);

// Functions of the module that may have run when the block did, although neither a call of them nor
// a line is left: the optimiser removed what it inlined there.
std::vector<const llvm::DISubprogram*> functions_gone(const llvm::BasicBlock& block);
// The same of functions of which the optimiser removed the call: all that they call may have run,
// too.
std::vector<const llvm::DISubprogram*> calls_gone(const llvm::BasicBlock& block);

// Removes markers and lists: code generation needs neither.
void remove_source_lines(llvm::Module& module);

}  // namespace telltale::instrument
