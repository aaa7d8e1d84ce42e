#include "path_tracing/unseen_functions.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>

#include <cstdint>

#include "path_tracing/lost_pieces.h"
#include "path_tracing/source_lines.h"
#include "path_tracing/source_pieces.h"
#include "path_tracing/unseen_calls.h"

namespace telltale::instrument {
namespace {

llvm::DenseSet<const llvm::FunctionType*>& types_of_vanished_calls() {
  static llvm::DenseSet<const llvm::FunctionType*> the_types;
  return the_types;
}

PieceRange range_of(const llvm::DISubprogram* function) {
  return ranges_of_pieces().lookup(function);
}

// The pieces of these functions, and of all that they call.
llvm::DenseSet<std::uint64_t> pieces_run_by(llvm::ArrayRef<const llvm::DISubprogram*> functions) {
  llvm::SmallVector<const llvm::DISubprogram*, 16> pending(functions.begin(), functions.end());
  llvm::DenseSet<std::uint64_t> called;
  while (!pending.empty()) {
    const auto [first, end] = range_of(pending.pop_back_val());
    for (std::uint64_t number = first; number < end; ++number)
      if (called.insert(number).second && pieces()[number].callee != nullptr)
        pending.push_back(pieces()[number].callee);
  }
  return called;
}

// The pieces that may have run in calls of which nothing is left, and in what they call.
llvm::DenseSet<std::uint64_t> vanished_pieces(const llvm::Module& module) {
  const LostPieces lost(module);
  const UnseenCalls unseen = unseen_calls(module);
  llvm::DenseSet<std::uint64_t> called = pieces_run_by(unseen.constructors);
  for (const llvm::DISubprogram* const destructor : unseen.destructors) {
    const auto [first, end] = range_of(destructor);
    for (std::uint64_t number = first; number < end; ++number) called.insert(number);
  }
  llvm::SmallVector<const llvm::DISubprogram*, 16> pending(unseen.at_exit.begin(),
                                                           unseen.at_exit.end());
  for (const Piece& piece : pieces())
    if (piece.is_first && types_of_vanished_calls().contains(piece.taken_as))
      pending.push_back(piece.function);
  while (!pending.empty())
    for (const std::uint64_t number : lost.ways_without_effects(pending.pop_back_val()))
      if (called.insert(number).second && pieces()[number].callee != nullptr)
        pending.push_back(pieces()[number].callee);
  return called;
}

}  // namespace

void note_vanished_call(const llvm::FunctionType& type) { types_of_vanished_calls().insert(&type); }

void forget_vanished_calls() { types_of_vanished_calls().clear(); }

std::vector<UnseenFunction> unseen_functions(const llvm::Module& module) {
  llvm::DenseSet<const llvm::DISubprogram*> left;
  llvm::SmallSetVector<const llvm::DISubprogram*, 8> roots;
  llvm::DenseSet<const llvm::DISubprogram*> gone_alone;
  for (const llvm::Function& function : module) {
    if (!function.isDeclarationForLinker()) left.insert(function.getSubprogram());
    for (const llvm::BasicBlock& block : function) {
      const auto calls = calls_gone(block);
      roots.insert(calls.begin(), calls.end());
      const auto functions = functions_gone(block);
      gone_alone.insert(functions.begin(), functions.end());
    }
  }
  const llvm::DenseSet<std::uint64_t> gone = pieces_run_by(roots.getArrayRef());
  for (const std::uint64_t number : gone)
    if (pieces()[number].called_by_pointer != nullptr)
      note_vanished_call(*pieces()[number].called_by_pointer);
  const llvm::DenseSet<std::uint64_t> vanished = vanished_pieces(module);
  std::vector<UnseenFunction> unseen;
  for (std::uint64_t number = 0; number < pieces().size(); ++number) {
    const Piece& piece = pieces()[number];
    const llvm::DISubprogram* const function = piece.function;
    const bool has_vanished = vanished.contains(number);
    const bool is_gone = gone.contains(number);
    const bool is_removed = (is_gone || gone_alone.contains(function)) && !left.contains(function);
    const bool calls = is_gone && piece.callee != nullptr;
    if (function == nullptr || !(has_vanished || is_removed || calls)) continue;
    if (unseen.empty() || unseen.back().function != function)
      unseen.push_back({.function = function, .vanished = {}, .removed = {}, .callees = {}});
    if (calls && !llvm::is_contained(unseen.back().callees, piece.callee))
      unseen.back().callees.push_back(piece.callee);
    for (const llvm::DILocation* const location : piece.locations) {
      if (location->getFile() != function->getFile()) continue;
      if (has_vanished) unseen.back().vanished.insert(location->getLine());
      if (is_removed) unseen.back().removed.insert(location->getLine());
    }
  }
  return unseen;
}

}  // namespace telltale::instrument
