// The pieces of the source that the blocks of an optimised function have.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include <cstdint>
#include <vector>

#include "path_tracing/call_places.h"

namespace telltale::instrument {

// Whether a function that was inlined at the call `outer` contains the call `inner`, at which
// another one was inlined, at any depth. Null is the function itself.
bool is_inlined_around(const llvm::DILocation* outer, const llvm::DILocation* inner);

class PiecesOfBlocks {
 public:
  using Numbers = llvm::SmallVector<std::uint64_t, 4>;

  // Adds a piece that a block has. Call in the order of the block's code.
  void add(const PieceHere& piece, const llvm::BasicBlock& block) {
    blocks_[piece].push_back(&block);
    pieces_[&block].push_back(piece);
  }
  [[nodiscard]] bool has(const PieceHere& piece) const { return blocks_.contains(piece); }
  [[nodiscard]] llvm::ArrayRef<const llvm::BasicBlock*> blocks_with(const PieceHere& piece) const;
  [[nodiscard]] llvm::ArrayRef<PieceHere> in(const llvm::BasicBlock& block) const;

  // The next pieces of the copy of a function at `call` on the ways from the end of the block, in
  // ascending order; `kNoPiece` if control leaves the copy. Empty: it would take too long.
  [[nodiscard]] Numbers after(const llvm::BasicBlock& block, const llvm::DILocation* call) const;
  // The same from the beginnings of blocks.
  [[nodiscard]] Numbers from(llvm::SmallVector<const llvm::BasicBlock*, 16> blocks,
                             const llvm::DILocation* call) const;

 private:
  llvm::DenseMap<PieceHere, llvm::SmallVector<const llvm::BasicBlock*, 1>> blocks_;
  llvm::DenseMap<const llvm::BasicBlock*, std::vector<PieceHere>> pieces_;
};

}  // namespace telltale::instrument
