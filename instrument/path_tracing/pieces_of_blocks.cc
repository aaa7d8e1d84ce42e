#include "path_tracing/pieces_of_blocks.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>

#include <cstddef>
#include <utility>

#include "path_tracing/source_pieces.h"

namespace telltale::instrument {

bool is_inlined_around(const llvm::DILocation* outer, const llvm::DILocation* inner) {
  while (inner != nullptr) {
    inner = inner->getInlinedAt();
    if (inner == outer) return true;
  }
  return false;
}

llvm::ArrayRef<const llvm::BasicBlock*> PiecesOfBlocks::blocks_with(const PieceHere& piece) const {
  const auto found = blocks_.find(piece);
  if (found == blocks_.end()) return {};
  return found->second;
}

llvm::ArrayRef<PieceHere> PiecesOfBlocks::in(const llvm::BasicBlock& block) const {
  const auto found = pieces_.find(&block);
  if (found == pieces_.end()) return {};
  return found->second;
}

PiecesOfBlocks::Numbers PiecesOfBlocks::after(const llvm::BasicBlock& block,
                                              const llvm::DILocation* call) const {
  if (llvm::succ_empty(&block)) return {kNoPiece};
  return from(llvm::SmallVector<const llvm::BasicBlock*, 16>(llvm::successors(&block)), call);
}

PiecesOfBlocks::Numbers PiecesOfBlocks::from(llvm::SmallVector<const llvm::BasicBlock*, 16> blocks,
                                             const llvm::DILocation* call) const {
  constexpr std::size_t kMostBlocks = 1024;
  Numbers found;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
  while (!blocks.empty()) {
    const llvm::BasicBlock* const at = blocks.pop_back_val();
    if (!seen.insert(at).second) continue;
    if (seen.size() > kMostBlocks) return {};
    const llvm::ArrayRef<PieceHere> here = in(*at);
    const auto* const next = llvm::find_if(here, [&](const PieceHere& piece) {
      return piece.second == call || is_inlined_around(piece.second, call);
    });
    if (next != here.end()) {
      // The function has returned, or may have been called again.
      const bool has_ended =
          next->second != call || (call != nullptr && pieces()[next->first].is_first);
      found.push_back(has_ended ? kNoPiece : next->first);
      continue;
    }
    if (llvm::succ_empty(at)) found.push_back(kNoPiece);
    blocks.append(llvm::succ_begin(at), llvm::succ_end(at));
  }
  llvm::sort(found);
  found.erase(llvm::unique(found), found.end());
  return found;
}

}  // namespace telltale::instrument
