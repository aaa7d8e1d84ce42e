// Which pieces may have run although optimisation left no marker of them there
// (docs/design/path-tracing.md, "Lines of optimised code").
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <cstddef>
#include <cstdint>

#include "path_tracing/source_pieces.h"

namespace telltale::instrument {

// Finds lost pieces in one optimised function. A piece is given by its number. Each call of a
// method is about one copy of one source function: the function itself, or where it was inlined.
// All pieces that it gets are of this copy. `kNoPiece` in their place means that control leaves the
// copy.
class LostPieces {
 public:
  using Numbers = llvm::SmallDenseSet<std::uint64_t>;

  explicit LostPieces(const llvm::Module& module);
  // Call it for all pieces that the function has, before the following.
  void note(std::uint64_t piece) {
    gets_memory_ = gets_memory_ || pieces()[piece].function_gets_memory;
    functions_.insert(pieces()[piece].function);
  }

  // Whether it has pieces of that function, in any copy.
  [[nodiscard]] bool has_code_of(const llvm::DISubprogram* function) const {
    return functions_.contains(function);
  }

  // Adds to `lost` the pieces that may have run between `from` and the pieces `after`, which follow
  // it in the optimised code. It searches short ways in the source's control flow for all pieces,
  // and ways of any length for pieces that are removable or have no marker left. (Optimisation
  // drops markers where it merges blocks with the same code, or makes a branch a select.)
  // `has_marker(piece)`: whether this copy has a marker of the piece anywhere.
  using HasMarker = llvm::function_ref<bool(std::uint64_t)>;
  void add_between(std::uint64_t from, llvm::ArrayRef<std::uint64_t> after, HasMarker has_marker,
                   Numbers& lost) const;
  // Adds successors of a piece that optimisation has removed; `after`: the successors that are
  // left. `is_folded`: its branch was converted to a select.
  void add_after(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after, bool is_folded,
                 Numbers& lost) const;
  // The piece's branch was hoisted to a block before it. If the piece has no effects and leads to
  // `to`, directly or through pieces without markers, adds it and these: they may have run where
  // `to` comes next.
  void add_skipped(std::uint64_t piece, std::uint64_t to, HasMarker has_marker,
                   Numbers& lost) const;

  // Whether an optimiser may have removed a call of the function although it would have run.
  [[nodiscard]] bool is_removable(const llvm::DISubprogram& function) const;
  // The pieces that may have run in a call of the function that left no code: those on ways through
  // it that have no effects but writes, if nobody reads these. Empty if there is no such way.
  [[nodiscard]] llvm::SmallVector<std::uint64_t, 16> ways_without_effects(
      const llvm::DISubprogram* function) const;

 private:
  [[nodiscard]] bool is_removable(const Piece& piece) const;
  [[nodiscard]] bool is_removable_from_loop(const Piece& piece) const;
  [[nodiscard]] bool writes_only_unread(const Piece& piece) const;
  [[nodiscard]] const llvm::Function* function_left(const llvm::DISubprogram& function) const;
  // What a function does in the source apart from what it computes, with all that it calls.
  enum class Effects : std::uint8_t { none, writes, any };
  [[nodiscard]] Effects effects_in_source(const llvm::DISubprogram& function) const;
  void add_sides(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after, Numbers& lost) const;
  void add_folded(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after, Numbers& lost) const;
  [[nodiscard]] llvm::SmallVector<std::uint64_t, 16> removable_side(
      std::uint64_t first, std::uint64_t branch, llvm::ArrayRef<std::uint64_t> after) const;
  void add_loop(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after, Numbers& lost) const;

  const llvm::Module& module_;
  bool is_sampled_;
  mutable llvm::DenseMap<const llvm::DISubprogram*, Effects> effects_in_source_;
  llvm::DenseSet<const llvm::DISubprogram*> functions_;  // itself, and those inlined into it
  bool gets_memory_ = false;                             // one of these does
};

}  // namespace telltale::instrument
