#include "path_tracing/calls_left.h"

#include <llvm/ADT/STLExtras.h>

#include <tuple>

#include "path_tracing/sampler_code.h"
#include "path_tracing/source_pieces.h"
#include "source_function.h"

namespace telltale::instrument {

void CallsLeft::note_call(const llvm::CallBase& call) {
  // It has the place of the call whose result it counts.
  if (is_sampler_call(call)) return;
  if (const auto callee = callee_through_alias(call)) {
    const bool is_copy = callee->symbol != callee->source.symbol;
    calls_[callee->source.subprogram].push_back(
        {call.getParent(), is_copy && !callee->symbol.ends_with(".fast")});
  }
  if (const llvm::DILocation* const at = call.getDebugLoc().get())
    places_.insert(place_of_call(nullptr, *at, at->getInlinedAt()));
}

void CallsLeft::note_piece(const PieceHere& piece, const llvm::BasicBlock& block) {
  for_each_call_around(piece, [&](const CallPlace& place, const llvm::DILocation* at) {
    inlined_[place] = at;
    const CallPlace of_all = place_of_call(nullptr, *at, at->getInlinedAt());
    places_.insert(of_all);
    InlinedAt& all = inlined_at_[of_all];
    all.callees.insert(std::get<0>(place));
    all.blocks.insert(&block);
  });
}

const llvm::DILocation* CallsLeft::inlined_call(const PieceHere& here) const {
  const Piece& piece = pieces()[here.first];
  return piece.callee == nullptr
             ? nullptr
             : inlined_.lookup(place_of_call(piece.callee, *piece.call_place, here.second));
}

llvm::SmallVector<CallsLeft::Inlined, 1> CallsLeft::inlined_calls(const PieceHere& here) const {
  if (const llvm::DILocation* const call = inlined_call(here); call != nullptr)
    return {{pieces()[here.first].callee, call}};
  llvm::SmallVector<Inlined, 1> calls;
  const Piece& piece = pieces()[here.first];
  if (piece.called_by_pointer == nullptr || piece.call_place == nullptr) return calls;
  const auto found = inlined_at_.find(place_of_call(nullptr, *piece.call_place, here.second));
  if (found == inlined_at_.end()) return calls;
  for (const llvm::DISubprogram* const callee : found->second.callees)
    calls.emplace_back(callee,
                       inlined_.lookup(place_of_call(callee, *piece.call_place, here.second)));
  return calls;
}

bool CallsLeft::is_inlined_before(const PieceHere& here, const llvm::BasicBlock& block,
                                  const llvm::DominatorTree& dominators) const {
  const Piece& piece = pieces()[here.first];
  if (piece.call_place == nullptr) return false;
  const auto found = inlined_at_.find(place_of_call(nullptr, *piece.call_place, here.second));
  return found != inlined_at_.end() &&
         llvm::any_of(found->second.blocks, [&](const llvm::BasicBlock* has) {
           return dominators.dominates(has, &block);
         });
}

bool CallsLeft::is_called_before(const PieceHere& here, const llvm::BasicBlock& block,
                                 const llvm::DominatorTree& dominators) const {
  const auto found = calls_.find(pieces()[here.first].callee);
  return found != calls_.end() && llvm::any_of(found->second, [&](const Call& call) {
           return dominators.dominates(call.block, &block);
         });
}

bool CallsLeft::has_callee(const PieceHere& here, const llvm::BasicBlock& block,
                           bool may_move) const {
  const auto found = calls_.find(pieces()[here.first].callee);
  return found != calls_.end() && llvm::any_of(found->second, [&](const Call& call) {
           return call.block == &block || (may_move && !call.is_observing);
         });
}

bool CallsLeft::has_call_by_pointer(const PieceHere& here) const {
  const Piece& piece = pieces()[here.first];
  return piece.call_place != nullptr &&
         places_.contains(place_of_call(nullptr, *piece.call_place, here.second));
}

}  // namespace telltale::instrument
