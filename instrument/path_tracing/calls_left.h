// Which calls of the source an optimised function still has, and what was inlined at the others.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstrTypes.h>

#include <utility>

#include "path_tracing/call_places.h"

namespace telltale::instrument {

class CallsLeft {
 public:
  // Adds a call of the function, or a piece with its block. Call for all of them before the
  // questions below.
  void note_call(const llvm::CallBase& call);
  void note_piece(const PieceHere& piece, const llvm::BasicBlock& block);

  // The call at the end of this piece, if the function has a piece that was inlined at it; null: it
  // has none.
  [[nodiscard]] const llvm::DILocation* inlined_call(const PieceHere& here) const;
  // The functions that were inlined at the call at the end of this piece, also by a pointer, and
  // left a piece there; and their calls.
  using Inlined = std::pair<const llvm::DISubprogram*, const llvm::DILocation*>;
  [[nodiscard]] llvm::SmallVector<Inlined, 1> inlined_calls(const PieceHere& here) const;

  // Whether the block runs only after a piece that was inlined at the call at the end of this one.
  [[nodiscard]] bool is_inlined_before(const PieceHere& here, const llvm::BasicBlock& block,
                                       const llvm::DominatorTree& dominators) const;
  // The same of a call that is left.
  [[nodiscard]] bool is_called_before(const PieceHere& here, const llvm::BasicBlock& block,
                                      const llvm::DominatorTree& dominators) const;

  // Whether the call of a function of this module at the end of a piece in the block is left there.
  // `may_move`: or in another block, but not in one where the Sampler observes.
  [[nodiscard]] bool has_callee(const PieceHere& here, const llvm::BasicBlock& block,
                                bool may_move) const;
  // Whether the call by a pointer at the end of the piece is left, or code that was inlined at it.
  [[nodiscard]] bool has_call_by_pointer(const PieceHere& here) const;

 private:
  struct Call {
    const llvm::BasicBlock* block;
    bool is_observing;  // of one of the Sampler's copies that run where it observes
  };
  struct InlinedAt {
    llvm::SmallSetVector<const llvm::DISubprogram*, 1> callees;
    llvm::SmallSetVector<const llvm::BasicBlock*, 2> blocks;  // with such pieces
  };

  llvm::DenseMap<const llvm::DISubprogram*, llvm::SmallVector<Call, 1>> calls_;  // by their callee
  // Calls at which functions were inlined that left a piece.
  llvm::DenseMap<CallPlace, const llvm::DILocation*> inlined_;
  llvm::DenseMap<CallPlace, InlinedAt> inlined_at_;  // by those calls, without the callee
  llvm::DenseSet<CallPlace> places_;                 // those and other calls, without the callee
};

}  // namespace telltale::instrument
