#include "path_tracing/source_lines.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "path_tracing/call_places.h"
#include "path_tracing/calls_left.h"
#include "path_tracing/data_steps.h"
#include "path_tracing/lost_pieces.h"
#include "path_tracing/moved_branches.h"
#include "path_tracing/path_scopes.h"
#include "path_tracing/pieces_of_blocks.h"
#include "path_tracing/source_pieces.h"
#include "path_tracing/unseen_functions.h"

namespace telltale::instrument {
namespace {

constexpr const char* kLines = "telltale.lines";
constexpr const char* kLinesBefore = "telltale.lines.before";
constexpr const char* kLinesLost = "telltale.lines.lost";
constexpr const char* kFunctionsGone = "telltale.functions.gone";
constexpr const char* kCallsGone = "telltale.calls.gone";

SourceLine source_line(const llvm::DILocation& location, const llvm::DILocation* call,
                       unsigned calls = 0) {
  return {location.getScope(), call, location.getLine(), calls};
}

class Collector {
 public:
  explicit Collector(llvm::Function& function) : function_(function), lost_(*function.getParent()) {
    bool has_own_piece = false;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (const llvm::CallBase* const call = as_call(instruction)) calls_left_.note_call(*call);
      if (!is_line_marker(instruction)) continue;
      markers_.push_back(&instruction);
      const auto piece = piece_of(instruction);
      if (!piece) continue;
      pieces_.add(*piece, *instruction.getParent());
      has_own_piece = has_own_piece || piece->second == nullptr;
      lost_.note(piece->first);
      is_optimised_ = is_optimised_ || pieces()[piece->first].is_optimised;
      calls_left_.note_piece(*piece, *instruction.getParent());
    }
    if (!has_own_piece) lose_all();
  }

  void run() {
    if (!markers_.empty()) {
      dominators_.recalculate(function_);
      for (llvm::BasicBlock& block : function_) collect(block);
    } else if (!all_lost_.empty()) {
      collect_lost(function_.getEntryBlock());
    }
    for (llvm::Instruction* const marker : markers_) marker->eraseFromParent();
  }

 private:
  using Functions = llvm::SmallSetVector<const llvm::DISubprogram*, 8>;

  // The piece of a marker; none if the marker has lost its place.
  static std::optional<PieceHere> piece_of(const llvm::Instruction& marker) {
    const llvm::DILocation* const place = marker.getDebugLoc().get();
    const std::uint64_t number =
        llvm::cast<llvm::PseudoProbeInst>(marker).getIndex()->getZExtValue();
    if (place == nullptr || number >= pieces().size()) return std::nullopt;
    return PieceHere(number, place->getInlinedAt());
  }

  // Nothing is left of the source function but code of the Sampler, and of functions that were
  // inlined. What it called in this module may have been specialised until nothing was left either.
  void lose_all() {
    const auto own = ranges_of_pieces().find(function_.getSubprogram());
    if (own == ranges_of_pieces().end()) return;
    for (std::uint64_t number = own->second.first; number < own->second.second; ++number) {
      const Piece& piece = pieces()[number];
      const bool may_vanish =
          !piece.has_effects && (piece.callee != nullptr || !piece.call_has_effects);
      if (piece.is_optimised && may_vanish) all_lost_.emplace_back(number, nullptr);
      lost_.note(number);
    }
    is_optimised_ = is_optimised_ || !all_lost_.empty();
  }

  void collect(llvm::BasicBlock& block) const {
    std::vector<SourceLine> lines;
    std::vector<SourceLine> before;
    unsigned calls = 0;
    for (const llvm::Instruction& instruction : block) {
      if (as_call(instruction) != nullptr) ++calls;
      const auto piece = is_line_marker(instruction) ? piece_of(instruction) : std::nullopt;
      if (!piece) continue;
      for (const std::uint64_t earlier : pieces_before(*piece, block))
        add_lines({earlier, piece->second}, before, calls);
      add_lines(*piece, lines, calls);
    }
    llvm::Instruction& last = *block.getTerminator();
    last.setMetadata(kLines, list_of(lines));
    if (!before.empty()) last.setMetadata(kLinesBefore, list_of(before));
    if (is_optimised_) collect_lost(block);
  }

  void collect_lost(llvm::BasicBlock& block) const {
    std::vector<SourceLine> lost;
    Functions gone;
    Functions calls_gone;
    std::vector<PieceHere> pending = lost_pieces(block);
    if (block.isEntryBlock()) pending.insert(pending.end(), all_lost_.begin(), all_lost_.end());
    llvm::DenseSet<PieceHere> seen(pending.begin(), pending.end());
    // Another copy of what was inlined at the piece's call is left.
    const auto add_ways = [&](const PieceHere& piece) {
      for (const auto& [callee, call] : calls_left_.inlined_calls(piece)) {
        const auto ways = lost_.ways_without_effects(callee);
        for (const std::uint64_t number : ways)
          if (seen.insert({number, call}).second) pending.emplace_back(number, call);
        if (ways.empty()) add_merged(callee, gone);
      }
    };
    const llvm::ArrayRef<PieceHere> here = pieces_.in(block);
    for (std::size_t i = 0; i < here.size(); ++i) {
      note_call_by_pointer(here[i]);
      const bool follows = inlined_follows(here[i], block, here.drop_front(i + 1));
      if (pieces()[here[i].first].called_by_pointer != nullptr && !follows) add_ways(here[i]);
      if (calls_left_.inlined_call(here[i]) == nullptr || !follows)
        add_lost_callee(here[i], block, calls_gone);
      // These have no marker, so that the optimiser may have removed them together with a call.
      for (const std::uint64_t number : pieces_before(here[i], block)) {
        const PieceHere earlier(number, here[i].second);
        note_call_by_pointer(earlier);
        if (calls_left_.is_inlined_before(earlier, block, dominators_)) continue;
        add_ways(earlier);
        if (calls_left_.inlined_calls(earlier).empty() &&
            !calls_left_.is_called_before(earlier, block, dominators_))
          add_lost_callee(earlier, block, calls_gone);
      }
    }
    for (std::size_t i = 0; i < pending.size(); ++i) {
      const PieceHere piece = pending[i];
      add_lines(piece, lost);
      note_call_by_pointer(piece);
      add_ways(piece);
      if (calls_left_.inlined_calls(piece).empty()) add_lost_callee(piece, block, calls_gone);
    }
    llvm::Instruction& last = *block.getTerminator();
    if (!lost.empty()) last.setMetadata(kLinesLost, list_of(lost));
    if (!gone.empty()) last.setMetadata(kFunctionsGone, list_of(gone));
    if (!calls_gone.empty()) last.setMetadata(kCallsGone, list_of(calls_gone));
  }

  static void add_lines(const PieceHere& piece, std::vector<SourceLine>& lines,
                        unsigned calls = 0) {
    for (const llvm::DILocation* const location : pieces()[piece.first].locations)
      lines.push_back(source_line(*location, piece.second, calls));
  }

  // Pieces that ran before, up to the first one that a block has which dominates this one: that
  // block has those before. The last first.
  [[nodiscard]] llvm::SmallVector<std::uint64_t, 4> pieces_before(
      const PieceHere& piece, const llvm::BasicBlock& block) const {
    llvm::SmallVector<std::uint64_t, 4> before;
    for (std::uint64_t number = pieces()[piece.first].dominator; number != kNoPiece;
         number = pieces()[number].dominator) {
      const auto dominates = [&](const llvm::BasicBlock* has) {
        return dominators_.dominates(has, &block);
      };
      if (llvm::any_of(pieces_.blocks_with({number, piece.second}), dominates)) break;
      before.push_back(number);
    }
    return before;
  }

  // Pieces that may have run after the block, or between two pieces in it, without a trace. Each
  // piece must be followed by one that followed it before optimisation: others between the two are
  // lost. And where only some of the pieces that may follow still do, the others may have been
  // removed together with the branch, if they have no effects, for example as a loop.
  [[nodiscard]] std::vector<PieceHere> lost_pieces(const llvm::BasicBlock& block) const {
    llvm::DenseMap<const llvm::DILocation*, std::uint64_t> following;  // by the call of the scope
    llvm::DenseSet<PieceHere> lost;
    for (const auto& [number, call] : llvm::reverse(pieces_.in(block))) {
      const auto [next, is_last] = following.try_emplace(call, number);
      llvm::SmallVector<std::uint64_t, 4> after;
      if (is_last) {
        after = pieces_.after(block, call);
      } else {
        after.push_back(next->second);
        next->second = number;
      }
      LostPieces::Numbers numbers;
      const auto has_marker = [this, around = call](std::uint64_t piece) {
        return pieces_.has({piece, around});
      };
      const auto is_folded = [&](std::uint64_t piece) {
        return chooses_values(block, pieces()[piece], call) &&
               !ends_with_branch_of(block, pieces()[piece], call);
      };
      if (!after.empty()) {
        lost_.add_between(number, after, has_marker, numbers);
        lost_.add_after(number, after, is_folded(number), numbers);
      }
      // The head of a loop may have lost its marker together with the loop.
      std::uint64_t next_of_it = number;
      for (const std::uint64_t earlier : pieces_before({number, call}, block)) {
        if (llvm::is_contained(pieces()[earlier].next, next_of_it))
          lost_.add_after(earlier, next_of_it, is_folded(earlier), numbers);
        next_of_it = earlier;
      }
      for (const std::uint64_t each : numbers) lost.insert({each, call});
    }
    add_skipped_branch(block, lost);
    if (block.isEntryBlock()) add_skipped_first(block, lost);
    std::vector<PieceHere> sorted(lost.begin(), lost.end());
    llvm::sort(sorted, [](const PieceHere& a, const PieceHere& b) { return a.first < b.first; });
    return sorted;
  }

  // If the block ends with a branch that was hoisted out of a loop, adds the piece that the branch
  // belongs to: it also ran on the way around the loop.
  void add_skipped_branch(const llvm::BasicBlock& block, llvm::DenseSet<PieceHere>& lost) const {
    const bool is_own = llvm::any_of(pieces_.in(block), [&](const PieceHere& here) {
      return ends_with_branch_of(block, pieces()[here.first], here.second);
    });
    if (is_own || !llvm::isa<llvm::BranchInst, llvm::SwitchInst>(block.getTerminator())) return;
    llvm::SmallSetVector<const llvm::DILocation*, 4> calls;
    for (const llvm::BasicBlock* side : llvm::successors(&block)) {
      // A loop's preheader has no pieces.
      const llvm::BasicBlock* const next = side->getSingleSuccessor();
      if (pieces_.in(*side).empty() && next != nullptr) side = next;
      for (const PieceHere& here : pieces_.in(*side)) calls.insert(here.second);
    }
    for (const llvm::DILocation* const call : calls) {
      llvm::SmallVector<llvm::SmallVector<std::uint64_t, 4>, 2> sides;
      for (const llvm::BasicBlock* const side : llvm::successors(&block))
        sides.push_back(pieces_.from({side}, call));
      const auto has_marker = [&](std::uint64_t piece) { return pieces_.has({piece, call}); };
      LostPieces::Numbers numbers;
      for (const auto& side : sides) {
        for (const auto& other : sides) {
          for (const std::uint64_t piece : side) {
            if (piece == kNoPiece || llvm::is_contained(other, piece)) continue;
            for (const std::uint64_t to : other) lost_.add_skipped(piece, to, has_marker, numbers);
          }
        }
      }
      for (const std::uint64_t each : numbers) lost.insert({each, call});
    }
  }

  // On a way on which the function's first piece has no marker, it may have run with others: where
  // the Sampler had copied the function, the same code of two copies became one.
  void add_skipped_first(const llvm::BasicBlock& entry, llvm::DenseSet<PieceHere>& lost) const {
    const auto own = ranges_of_pieces().find(function_.getSubprogram());
    if (own == ranges_of_pieces().end() || own->second.first == own->second.second) return;
    const std::uint64_t first = own->second.first;
    auto after = pieces_.from({&entry}, nullptr);
    llvm::erase(after, first);
    if (after.empty()) return;
    LostPieces::Numbers numbers{first};
    const auto has_marker = [this](std::uint64_t piece) { return pieces_.has({piece, nullptr}); };
    lost_.add_between(first, after, has_marker, numbers);
    for (const std::uint64_t each : numbers) lost.insert({each, nullptr});
  }

  // Adds a short function, and those that are inlined into it here: their code may have become one
  // with other code.
  void add_merged(const llvm::DISubprogram* function, Functions& gone) const {
    if (!has_few_pieces(function) || !gone.insert(function)) return;
    const auto [first, end] = ranges_of_pieces().lookup(function);
    for (std::uint64_t number = first; number < end; ++number)
      if (lost_.has_code_of(pieces()[number].callee)) add_merged(pieces()[number].callee, gone);
  }

  static bool has_few_pieces(const llvm::DISubprogram* function) {
    constexpr std::uint64_t kFew = 4;
    const auto range = ranges_of_pieces().find(function);
    return range != ranges_of_pieces().end() && range->second.second - range->second.first <= kFew;
  }

  // Whether a piece that was inlined at the call at the end of this one is on each way from it,
  // before the function that calls goes on.
  // `rest`: the pieces that follow in the block.
  [[nodiscard]] bool inlined_follows(const PieceHere& here, const llvm::BasicBlock& block,
                                     llvm::ArrayRef<PieceHere> rest) const {
    const Piece& piece = pieces()[here.first];
    if (piece.call_place == nullptr) return false;
    const CallPlace place = place_of_call(piece.callee, *piece.call_place, here.second);
    const auto is_inlined = [&](const PieceHere& next) {
      bool is_at_call = false;
      for_each_call_around(next, [&](CallPlace at, const llvm::DILocation*) {
        if (piece.callee == nullptr) std::get<0>(at) = nullptr;
        is_at_call = is_at_call || at == place;
      });
      return is_at_call;
    };
    constexpr std::size_t kMostBlocks = 64;
    llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
    llvm::SmallVector<const llvm::BasicBlock*, 16> pending;
    const auto goes_on = [&](llvm::ArrayRef<PieceHere> all, const llvm::BasicBlock& at) {
      for (const PieceHere& next : all) {
        if (is_inlined(next)) return false;
        if (next.second == here.second || is_inlined_around(next.second, here.second)) return true;
      }
      for (const llvm::BasicBlock* const successor : llvm::successors(&at))
        if (seen.insert(successor).second) pending.push_back(successor);
      return false;
    };
    if (goes_on(rest, block)) return false;
    while (!pending.empty() && seen.size() < kMostBlocks) {
      const llvm::BasicBlock* const at = pending.pop_back_val();
      if (goes_on(pieces_.in(*at), *at)) return false;
    }
    return true;
  }

  // Adds the callee at the end of a piece if the call is not left. One that has effects may have
  // moved to another block.
  void add_lost_callee(const PieceHere& here, const llvm::BasicBlock& block, Functions& all) const {
    const Piece& piece = pieces()[here.first];
    if (piece.callee != nullptr &&
        !calls_left_.has_callee(here, block, !lost_.is_removable(*piece.callee)))
      all.insert(piece.callee);
  }

  // Notes a call by a pointer at the end of a piece if the call is not left.
  void note_call_by_pointer(const PieceHere& here) const {
    const Piece& piece = pieces()[here.first];
    if (piece.called_by_pointer != nullptr && !calls_left_.has_call_by_pointer(here))
      note_vanished_call(*piece.called_by_pointer);
  }

  [[nodiscard]] llvm::MDNode* list_of(const Functions& functions) const {
    llvm::SmallVector<llvm::Metadata*, 8> all;
    for (const llvm::DISubprogram* const function : functions)
      all.push_back(const_cast<llvm::DISubprogram*>(function));
    return llvm::MDTuple::get(function_.getContext(), all);
  }

  // Null operands are calls.
  [[nodiscard]] llvm::MDNode* list_of(const std::vector<SourceLine>& lines) const {
    llvm::SmallVector<llvm::Metadata*, 16> locations;
    unsigned calls = 0;
    for (const SourceLine& line : lines) {
      for (; calls < line.calls; ++calls) locations.push_back(nullptr);
      locations.push_back(llvm::DILocation::get(function_.getContext(), line.line, 0,
                                                const_cast<llvm::DILocalScope*>(line.scope),
                                                const_cast<llvm::DILocation*>(line.call)));
    }
    return llvm::MDTuple::get(function_.getContext(), locations);
  }

  llvm::Function& function_;
  bool is_optimised_ = false;  // some code in it was
  std::vector<PieceHere> all_lost_;
  std::vector<llvm::Instruction*> markers_;
  PiecesOfBlocks pieces_;
  CallsLeft calls_left_;
  LostPieces lost_;
  llvm::DominatorTree dominators_;
};

std::vector<SourceLine> lines_in(const llvm::MDNode* list) {
  std::vector<SourceLine> lines;
  if (list == nullptr) return lines;
  unsigned calls = 0;
  for (const llvm::MDOperand& operand : list->operands()) {
    if (const auto* const location = llvm::dyn_cast_or_null<llvm::DILocation>(operand.get())) {
      lines.push_back(source_line(*location, location->getInlinedAt(), calls));
    } else {
      ++calls;
    }
  }
  return lines;
}

std::vector<const llvm::DISubprogram*> functions_in(const llvm::MDNode* list) {
  std::vector<const llvm::DISubprogram*> functions;
  if (list == nullptr) return functions;
  for (const llvm::MDOperand& operand : list->operands())
    functions.push_back(llvm::cast<llvm::DISubprogram>(operand.get()));
  return functions;
}

}  // namespace

void collect_source_lines(llvm::Function& function) { Collector(function).run(); }

std::vector<SourceLine> source_lines(const llvm::BasicBlock& block) {
  if (const llvm::MDNode* const list = block.getTerminator()->getMetadata(kLines))
    return lines_in(list);
  std::vector<SourceLine> lines;
  unsigned calls = 0;
  for (const llvm::Instruction& instruction : block) {
    if (const llvm::DILocation* const location = place_in_source(instruction))
      lines.push_back(source_line(*location, location->getInlinedAt(), calls));
    if (as_call(instruction) != nullptr) ++calls;
  }
  return lines;
}

std::vector<SourceLine> lines_before(const llvm::BasicBlock& block) {
  return lines_in(block.getTerminator()->getMetadata(kLinesBefore));
}

std::vector<SourceLine> lines_lost_after(const llvm::BasicBlock& block) {
  return lines_in(block.getTerminator()->getMetadata(kLinesLost));
}

std::vector<const llvm::DISubprogram*> functions_gone(const llvm::BasicBlock& block) {
  return functions_in(block.getTerminator()->getMetadata(kFunctionsGone));
}

std::vector<const llvm::DISubprogram*> calls_gone(const llvm::BasicBlock& block) {
  return functions_in(block.getTerminator()->getMetadata(kCallsGone));
}

void remove_source_lines(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (instruction.isTerminator()) {
        for (const char* const kind :
             {kLines, kLinesBefore, kLinesLost, kFunctionsGone, kCallsGone})
          instruction.setMetadata(kind, nullptr);
      } else if (is_line_marker(instruction)) {
        instruction.eraseFromParent();
      }
    }
  }
  pieces().clear();
  ranges_of_pieces().clear();
  forget_vanished_calls();
}

}  // namespace telltale::instrument
