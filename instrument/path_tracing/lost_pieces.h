// Which pieces may have run although optimisation left no marker of them there
// (docs/design/path-tracing.md, "Lines of optimised code").
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <cstddef>
#include <cstdint>

#include "path_tracing/source_pieces.h"

namespace telltale::instrument {

// Works on one optimised function. Pieces are given by their numbers. All pieces of one call of a
// method belong to the same copy of a function; `kNoPiece` stands for the end of that copy.
class LostPieces {
 public:
  using Numbers = llvm::SmallDenseSet<std::uint64_t>;

  explicit LostPieces(const llvm::Module& module) : module_(module) {}
  // Call it for all pieces that the function has, before the following.
  void note(std::uint64_t piece) {
    gets_memory_ = gets_memory_ || pieces()[piece].function_gets_memory;
  }

  // Adds the pieces between one and those that now follow it: on short ways, and, on ways of any
  // length, pieces that are removable or have lost their markers, as where blocks with the same
  // code were merged or a branch became a selection. `has_marker(piece)`: the copy of the function
  // has it somewhere.
  using HasMarker = llvm::function_ref<bool(std::uint64_t)>;
  void add_between(std::uint64_t from, llvm::ArrayRef<std::uint64_t> after, HasMarker has_marker,
                   Numbers& lost) const;
  // Adds successors of a piece that optimisation has removed; `after`: the successors that are
  // left.
  void add_after(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after, Numbers& lost) const;

  // Whether an optimiser may have removed a call of the function although it would have run.
  [[nodiscard]] bool is_removable(const llvm::DISubprogram& function) const;
  // Whether an optimiser may have removed all pieces of the function together with a branch. Other
  // copies of the code may still have them inlined.
  [[nodiscard]] bool has_removable_pieces(const llvm::DISubprogram* function) const {
    return has_removable_pieces(function, kMostCalls);
  }

 private:
  static constexpr unsigned kMostCalls = 4;

  [[nodiscard]] bool is_removable(const Piece& piece) const;
  [[nodiscard]] bool is_removable_from_loop(const Piece& piece) const;
  [[nodiscard]] const llvm::Function* function_left(const llvm::DISubprogram& function) const;
  [[nodiscard]] bool has_removable_pieces(const llvm::DISubprogram* function, unsigned depth) const;
  void add_sides(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after, Numbers& lost) const;
  [[nodiscard]] llvm::SmallVector<std::uint64_t, 16> removable_side(
      std::uint64_t first, std::uint64_t branch, llvm::ArrayRef<std::uint64_t> after) const;
  void add_loop(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after, Numbers& lost) const;
  [[nodiscard]] bool repeats(std::uint64_t at, std::uint64_t head, std::size_t& steps,
                             Numbers& seen, Numbers& in_loop) const;

  const llvm::Module& module_;
  bool gets_memory_ = false;  // the function, or one that is inlined into it
};

}  // namespace telltale::instrument
