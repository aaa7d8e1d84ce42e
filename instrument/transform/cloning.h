// What both ways of sampling do to a function before they copy its blocks.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "codegen/counters.h"
#include "translation_unit.h"

namespace telltale::instrument {

// A block and the number of a successor.
using Edge = std::pair<llvm::BasicBlock*, unsigned>;

// The value of a mark is the value that it was given.
void erase_mark(llvm::CallInst& call);
std::vector<llvm::CallInst*> marks_in(llvm::Function& function, const TranslationUnit& unit);

// Does code mean the same when it is there twice? Computed jumps do if the labels whose addresses
// are taken are led to both copies.
bool can_be_cloned(const llvm::Function& function, bool redirects_labels);

// Splits the entry: it keeps what must not be copied, the variables of the frame. Answers the rest.
llvm::BasicBlock* split_entry(llvm::Function& function);

// Splits what follows each landing pad from it, as nothing can be put before a pad.
void split_landing_pads(llvm::Function& function);

// The tables in which a function keeps the addresses of its labels, if it keeps them in nothing
// else but its own code: nothing if somebody else might jump to them.
std::optional<std::vector<llvm::GlobalVariable*>> label_tables(llvm::Function& function);

// `function` under another name and for this unit alone, with the parameters that `more` tells
// behind its own, and tables of its own labels.
llvm::Function* clone_function(llvm::Function& function, const char* suffix,
                               llvm::ArrayRef<llvm::Type*> more, llvm::ValueToValueMapTy& copies);

// Values that are made in one block and used in another, where either copy may have made them. May
// add blocks.
void demote_values(llvm::Function& function);

// The jumps backward, as a walk from the entry meets them, and what computed jumps lead to: what is
// left without them has no loops. `order` has all blocks that can be reached but the entry,
// successors first but for such jumps.
struct BackEdges {
  std::set<Edge> edges;
  std::vector<llvm::BasicBlock*> post_order;
};
BackEdges find_back_edges(llvm::BasicBlock* start);

}  // namespace telltale::instrument
