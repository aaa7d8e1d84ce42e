#include "path_tracing/lost_pieces.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/ValueHandle.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "path_tracing/path_scopes.h"
#include "path_tracing/sampler_code.h"

namespace telltale::instrument {
namespace {

// Only short ways are searched: what is far away was not lost with one branch. A way is short if it
// has few pieces, or few branches: calls divide straight code into many pieces.
constexpr unsigned kMostPieces = 4;
constexpr unsigned kMostBranches = 2;

// Whether a short way leads from a piece to the other. Adds the pieces on such ways. `length`,
// `branches`: of the way so far. `steps`: the most pieces that it looks at.
bool is_between(std::uint64_t at, std::uint64_t to, unsigned length, unsigned branches,
                std::size_t& steps, LostPieces::Numbers& lost) {
  const llvm::ArrayRef<std::uint64_t> after = pieces()[at].next;
  if (llvm::is_contained(after, to)) return true;
  if (llvm::count_if(after, [](std::uint64_t next) { return next != kNoPiece; }) > 1) ++branches;
  if (length == kMostPieces && branches > kMostBranches) return false;
  bool is_found = false;
  for (const std::uint64_t next : after) {
    if (next == kNoPiece || steps == 0) continue;
    --steps;
    if (!is_between(next, to, std::min(length + 1, kMostPieces), branches, steps, lost)) continue;
    lost.insert(next);
    is_found = true;
  }
  return is_found;
}

// In the order in which they were found.
using Reached = llvm::SmallVector<std::uint64_t, 16>;

// `from`, and the pieces that it leads to without passing `to`, as far as `is_passed(piece)`.
template <typename IsPassed>
Reached reach(std::uint64_t from, std::uint64_t to, IsPassed is_passed) {
  constexpr std::size_t kMostReached = 64;
  Reached reached{from};
  for (std::size_t i = 0; i < reached.size() && reached.size() < kMostReached; ++i) {
    for (const std::uint64_t next : pieces()[reached[i]].next) {
      if (next != kNoPiece && next != to && !llvm::is_contained(reached, next) && is_passed(next))
        reached.push_back(next);
    }
  }
  return reached;
}

// A set of pieces, of which the first leads to all others, with the edges between them.
class Ways {
 public:
  explicit Ways(Reached reached) : pieces_(std::move(reached)), before_(pieces_.size()) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      for (const std::uint64_t next : pieces()[pieces_[i]].next) {
        const auto found = llvm::find(pieces_, next);
        if (found != pieces_.end()) before_[found - pieces_.begin()].push_back(i);
      }
    }
  }

  [[nodiscard]] bool contain(std::uint64_t piece) const {
    return llvm::is_contained(pieces_, piece);
  }

  // Adds to `lost` the pieces from which `to` can be reached through the set, without the first.
  // `to` is the first, is not in the set, or is `kNoPiece`.
  void add_leading(std::uint64_t to, LostPieces::Numbers& lost) const {
    llvm::SmallVector<std::size_t, 16> pending;
    llvm::SmallVector<bool, 64> leads(pieces_.size());
    const auto add = [&](std::size_t index) {
      if (leads[index]) return;
      leads[index] = true;
      pending.push_back(index);
      if (index != 0) lost.insert(pieces_[index]);
    };
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (llvm::is_contained(pieces()[pieces_[i]].next, to)) add(i);
    while (!pending.empty())
      for (const std::size_t index : before_[pending.pop_back_val()]) add(index);
  }

 private:
  Reached pieces_;
  std::vector<llvm::SmallVector<std::size_t, 2>> before_;  // by index: predecessors
};

// Whether some of these pieces lead from the piece back to it.
bool is_in_loop(std::uint64_t piece, const Reached& through) {
  const Reached after =
      reach(piece, kNoPiece, [&](std::uint64_t next) { return llvm::is_contained(through, next); });
  return llvm::any_of(after, [&](std::uint64_t number) {
    return llvm::is_contained(pieces()[number].next, piece);
  });
}

// Whether the piece is in a loop of these pieces of which another one has lost its marker. Then no
// copy of the code is left that repeats: what is left is the part of an iteration that leaves the
// loop in another way, and a loop that ran to its end was removed.
bool is_in_broken_loop(std::uint64_t piece, const Reached& loops,
                       llvm::function_ref<bool(std::uint64_t)> has_lost_marker) {
  const auto is_one = [&](std::uint64_t next) { return llvm::is_contained(loops, next); };
  return llvm::any_of(reach(piece, kNoPiece, is_one), [&](std::uint64_t other) {
    return has_lost_marker(other) &&
           llvm::any_of(reach(other, kNoPiece, is_one), [&](std::uint64_t last) {
             return llvm::is_contained(pieces()[last].next, piece);
           });
  });
}

}  // namespace

LostPieces::LostPieces(const llvm::Module& module)
    : module_(module), is_sampled_(has_sampler_code(module)) {}

void LostPieces::add_between(std::uint64_t from, llvm::ArrayRef<std::uint64_t> after,
                             HasMarker has_marker, Numbers& lost) const {
  const llvm::ArrayRef<std::uint64_t> next = pieces()[from].next;
  const auto has_lost_marker = [&](std::uint64_t number) { return !has_marker(number); };
  const auto follows = [&](std::uint64_t to) { return llvm::is_contained(next, to); };
  const Reached loops = reach(from, kNoPiece, [&](std::uint64_t number) {
    return is_removable_from_loop(pieces()[number]);
  });
  if (llvm::any_of(after, follows)) {
    const bool has_broken_loop = llvm::any_of(loops, [&](std::uint64_t number) {
      return number != from && has_lost_marker(number) && is_in_loop(number, loops);
    });
    const auto is_gone = [&](std::uint64_t number) {
      return has_lost_marker(number) || (has_broken_loop && llvm::is_contained(loops, number) &&
                                         is_in_broken_loop(number, loops, has_lost_marker));
    };
    const Ways gone(reach(from, kNoPiece, is_gone));
    for (const std::uint64_t to : after)
      if (follows(to)) gone.add_leading(to, lost);
  }
  if (llvm::all_of(after, follows)) return;
  const auto is_removed = [&](std::uint64_t number) {
    return is_removable(pieces()[number]) || has_lost_marker(number) ||
           (llvm::is_contained(loops, number) && is_in_loop(number, loops));
  };
  const Ways removed(reach(from, kNoPiece, is_removed));
  for (const std::uint64_t to : after) {
    if (follows(to)) continue;
    std::size_t steps = 1024;
    Numbers between;
    is_between(from, to, 0, 0, steps, between);
    lost.insert(between.begin(), between.end());
    if (between.empty() && !removed.contain(to)) {
      removed.add_leading(to, lost);
    } else {
      // Longer ways may leave a short one, and come back to it, as loops do.
      const auto is_passed = [&](std::uint64_t number) {
        return is_removed(number) || between.contains(number);
      };
      Ways(reach(from, to, is_passed)).add_leading(to, lost);
    }
  }
}

void LostPieces::add_after(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after, bool is_folded,
                           Numbers& lost) const {
  add_sides(piece, after, lost);
  if (is_folded) add_folded(piece, after, lost);
  add_loop(piece, after, lost);
}

// After if-conversion. The side may also store: the select chooses the stored value.
void LostPieces::add_folded(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after,
                            Numbers& lost) const {
  const auto is_gone = [&](std::uint64_t number) {
    return is_removable_from_loop(pieces()[number]) && !llvm::is_contained(after, number);
  };
  const Ways ways(reach(piece, kNoPiece, is_gone));
  for (const std::uint64_t to : after) ways.add_leading(to, lost);
}

void LostPieces::add_skipped(std::uint64_t piece, std::uint64_t to, HasMarker has_marker,
                             Numbers& lost) const {
  if (!is_removable_from_loop(pieces()[piece])) return;
  Numbers after;
  Ways(reach(piece, to, [&](std::uint64_t number) {
    return !has_marker(number);
  })).add_leading(to, after);
  if (after.empty() && !llvm::is_contained(pieces()[piece].next, to)) return;
  lost.insert(piece);
  for (const std::uint64_t number : after) lost.insert(number);
}

// Where a branch no longer leads to one of its sides. `after`: the pieces that still follow.
void LostPieces::add_sides(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after,
                           Numbers& lost) const {
  for (const std::uint64_t side : pieces()[piece].next) {
    if (side == kNoPiece || side == piece || llvm::is_contained(after, side)) continue;
    for (const std::uint64_t number : removable_side(side, piece, after)) lost.insert(number);
  }
}

// The pieces from one on, up to the branch that leads to it or to those after it. Empty if not
// all of them are removable: then that side was not removed, but is not taken there.
llvm::SmallVector<std::uint64_t, 16> LostPieces::removable_side(
    std::uint64_t first, std::uint64_t branch, llvm::ArrayRef<std::uint64_t> after) const {
  constexpr std::size_t kMostInSide = 64;
  llvm::SmallVector<std::uint64_t, 16> side{first};
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (side[i] == kNoPiece || side.size() > kMostInSide || !is_removable(pieces()[side[i]]))
      return {};
    for (const std::uint64_t next : pieces()[side[i]].next) {
      if (next != branch && !llvm::is_contained(after, next) && !llvm::is_contained(side, next))
        side.push_back(next);
    }
  }
  return side;
}

// Where the piece before a loop is also followed by what comes after the loop, that may be
// because the loop does not repeat, or because it was removed in a copy of the code.
void LostPieces::add_loop(std::uint64_t piece, llvm::ArrayRef<std::uint64_t> after,
                          Numbers& lost) const {
  const llvm::ArrayRef<std::uint64_t> next = pieces()[piece].next;
  if (next.size() < 2) return;
  for (const std::uint64_t body : next) {
    const bool may_leave = llvm::any_of(
        next, [&](std::uint64_t end) { return end != body && llvm::is_contained(after, end); });
    const auto is_gone = [&](std::uint64_t at) { return is_removable_from_loop(pieces()[at]); };
    if (!may_leave || body == piece || body == kNoPiece || !is_gone(body)) continue;
    Numbers in_loop;
    Ways(reach(body, piece, is_gone)).add_leading(piece, in_loop);
    if (in_loop.empty() && !llvm::is_contained(pieces()[body].next, piece)) continue;
    lost.insert(body);
    for (const std::uint64_t number : in_loop) lost.insert(number);
  }
}

// Whether an optimiser may have removed the piece although it would have run.
bool LostPieces::is_removable(const Piece& piece) const {
  return is_removable_from_loop(piece) && writes_only_unread(piece);
}

bool LostPieces::writes_only_unread(const Piece& piece) const {
  const auto is_used = [](const llvm::WeakVH& variable) {
    return variable != nullptr && !variable->use_empty();
  };
  return !piece.writes_elsewhere && (!piece.writes_by_pointer || gets_memory_) &&
         llvm::none_of(piece.written, is_used);
}

// The same of a piece in a loop. There it may also write, itself or in a call that was inlined: the
// optimiser keeps the value in a register, stores the last one after the loop, and removes the
// loop.
bool LostPieces::is_removable_from_loop(const Piece& piece) const {
  if (piece.has_effects) return false;
  if (!piece.ends_with_call) return true;
  if (piece.callee == nullptr) return !piece.call_has_effects;
  return is_removable(*piece.callee) ||
         (functions_.contains(piece.callee) && effects_in_source(*piece.callee) != Effects::any);
}

// Returns null if the function was inlined everywhere, and removed.
const llvm::Function* LostPieces::function_left(const llvm::DISubprogram& function) const {
  return module_.getFunction(symbol_of(function));
}

// Uses what the optimiser has found out about the callee by now.
bool LostPieces::is_removable(const llvm::DISubprogram& function) const {
  const llvm::Function* const callee = function_left(function);
  const bool is_pure = callee == nullptr || (callee->onlyReadsMemory() && callee->doesNotThrow() &&
                                             callee->hasFnAttribute(llvm::Attribute::WillReturn));
  return is_pure || (is_sampled_ && effects_in_source(function) == Effects::none);
}

// Without the Sampler's code, which writes. An inlined copy has that code only where it observes:
// the rest of it can be removed, while a call of another copy is left.
LostPieces::Effects LostPieces::effects_in_source(const llvm::DISubprogram& function) const {
  const auto [known, is_new] = effects_in_source_.try_emplace(&function, Effects::any);
  if (!is_new) return known->second;
  Effects effects = Effects::none;
  llvm::SmallSetVector<const llvm::DISubprogram*, 8> called;
  called.insert(&function);
  for (std::size_t i = 0; i < called.size(); ++i) {
    const auto range = ranges_of_pieces().find(called[i]);
    if (range == ranges_of_pieces().end()) return Effects::any;
    for (std::uint64_t number = range->second.first; number < range->second.second; ++number) {
      const Piece& piece = pieces()[number];
      if (piece.has_effects) return Effects::any;
      if (!writes_only_unread(piece)) effects = Effects::writes;
      if (piece.callee != nullptr) {
        called.insert(piece.callee);
      } else if (piece.ends_with_call && piece.call_has_effects) {
        return Effects::any;
      }
    }
  }
  return effects_in_source_[&function] = effects;
}

llvm::SmallVector<std::uint64_t, 16> LostPieces::ways_without_effects(
    const llvm::DISubprogram* function) const {
  const auto found = ranges_of_pieces().find(function);
  if (found == ranges_of_pieces().end()) return {};
  const auto [first, end] = found->second;
  const auto has_no_effects = [&](std::uint64_t number) {
    return is_removable_from_loop(pieces()[number]);
  };
  if (first == end || !has_no_effects(first)) return {};
  const Ways ways(reach(first, kNoPiece, has_no_effects));
  Numbers on_ways;
  ways.add_leading(kNoPiece, on_ways);
  const bool is_one = llvm::is_contained(pieces()[first].next, kNoPiece);
  if (on_ways.empty() && !is_one) return {};
  llvm::SmallVector<std::uint64_t, 16> sorted(on_ways.begin(), on_ways.end());
  sorted.push_back(first);
  llvm::sort(sorted);
  return sorted;
}

}  // namespace telltale::instrument
