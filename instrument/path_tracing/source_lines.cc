#include "path_tracing/source_lines.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/STLExtras.h>
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
#include <utility>

#include "path_tracing/data_steps.h"

namespace telltale::instrument {
namespace {

// Tells markers from the probes of -fpseudo-probe-for-profiling, which have hashes of names there.
constexpr std::uint64_t kMarkerGroup = 0x74656C6C6C696E65;
constexpr const char* kLines = "telltale.lines";
constexpr const char* kLinesBefore = "telltale.lines.before";
constexpr const char* kLinesLost = "telltale.lines.lost";

using Locations = std::vector<llvm::DILocation*>;

// Code that runs from its beginning to its end, if no call in its last instruction prevents it.
struct Piece {
  Locations locations = {};
  std::uint64_t dominator;  // of the same function; `kNone`: none, or not known
  // What runs next; `kNone`: the function ends, or may.
  llvm::SmallVector<std::uint64_t, 2> next = {};
  bool is_first = false;  // of its function
};
constexpr std::uint64_t kNone = ~std::uint64_t{0};

// By the number in the markers; of one module.
std::vector<Piece>& pieces() {
  static std::vector<Piece> the_pieces;
  return the_pieces;
}

bool is_code(const llvm::Instruction& instruction) {
  return !is_unconditional_branch(instruction) && !instruction.isLifetimeStartOrEnd() &&
         !is_line_marker(instruction);
}

// The place of an instruction that is code; null: none.
llvm::DILocation* place_in_source(const llvm::Instruction& instruction) {
  llvm::DILocation* const location = instruction.getDebugLoc().get();
  const bool has_line = location != nullptr && location->getLine() != 0;
  return has_line && is_code(instruction) ? location : nullptr;
}

// Whether what follows may not run, although the instruction does.
bool ends_piece(const llvm::Instruction& instruction) {
  const llvm::CallBase* const call = as_call(instruction);
  if (call == nullptr) return false;
  const llvm::Function* const callee = call->getCalledFunction();
  // Marks of the Sampler's sites become code that goes on.
  return callee == nullptr || !(callee->getName().starts_with("telltale.") ||
                                callee->getName().starts_with("__telltale_"));
}

// Inserts a marker before the piece. Returns its number.
std::uint64_t insert_marker(llvm::Instruction& before, Piece piece) {
  const std::uint64_t number = pieces().size();
  llvm::IRBuilder<> builder(&before);
  builder.SetCurrentDebugLocation(piece.locations.empty() ? nullptr : piece.locations.front());
  builder.CreateIntrinsic(builder.getVoidTy(), llvm::Intrinsic::pseudoprobe,
                          {builder.getInt64(kMarkerGroup), builder.getInt64(number),
                           builder.getInt32(0), builder.getInt64(~std::uint64_t{0})});
  pieces().push_back(std::move(piece));
  return number;
}

class FunctionMarker {
 public:
  explicit FunctionMarker(llvm::Function& function) : function_(function) {}

  void run() {
    const std::uint64_t first = pieces().size();
    // What dominates code of a coroutine may have run in an earlier activation.
    const bool knows_dominators = !function_.isPresplitCoroutine();
    const llvm::DominatorTree dominators(function_);
    for (const llvm::DomTreeNode* const node : llvm::depth_first(dominators.getRootNode())) {
      const llvm::DomTreeNode* const parent = node->getIDom();
      const std::uint64_t dominator =
          parent == nullptr ? kNone : last_piece_.at(parent->getBlock());
      const std::uint64_t last = mark(*node->getBlock(), dominator);
      last_piece_[node->getBlock()] = knows_dominators ? last : kNone;
    }
    if (first != pieces().size()) pieces()[first].is_first = true;
    for (const auto& [block, piece] : ends_) add_next(*block, piece);
  }

 private:
  // Returns the last piece of the block; `dominator` if it has none. A piece gets a marker even if
  // it has no lines: code must not depend on whether there is debug information.
  std::uint64_t mark(llvm::BasicBlock& block, std::uint64_t dominator) {
    if (block.getFirstInsertionPt() == block.end()) return dominator;
    llvm::Instruction* at = &*block.getFirstInsertionPt();
    while (llvm::isa<llvm::AllocaInst>(at)) at = at->getNextNode();
    llvm::Instruction* first = nullptr;  // of the piece's code
    Piece piece{.dominator = dominator};
    std::uint64_t last = kNone;  // of this block
    for (; at != nullptr; at = at->getNextNode()) {
      if (first == nullptr && is_code(*at)) first = at;
      llvm::DILocation* const location = place_in_source(*at);
      if (location != nullptr && (piece.locations.empty() || piece.locations.back() != location))
        piece.locations.push_back(location);
      if (first == nullptr || !(at->isTerminator() || ends_piece(*at))) continue;
      const auto* const call = llvm::dyn_cast<llvm::CallInst>(at);
      const std::uint64_t number = insert_marker(*first, std::move(piece));
      if (last == kNone) first_piece_[&block] = number;
      if (last != kNone) pieces()[last].next.push_back(number);
      last = number;
      // Nothing may be between such a call and the return.
      if (call != nullptr && call->isMustTailCall()) break;
      first = nullptr;
      piece = Piece{.dominator = number};
    }
    if (last == kNone) return dominator;
    ends_.emplace_back(&block, last);
    return last;
  }

  void add_next(const llvm::BasicBlock& block, std::uint64_t piece) const {
    llvm::SmallVector<std::uint64_t, 2> next;
    if (llvm::succ_empty(&block)) next.push_back(kNone);
    for (const llvm::BasicBlock* const successor : llvm::successors(&block)) {
      const std::uint64_t number = first_piece_from(successor);
      if (!llvm::is_contained(next, number)) next.push_back(number);
    }
    pieces()[piece].next = std::move(next);
  }

  // Blocks without pieces only lead to others.
  [[nodiscard]] std::uint64_t first_piece_from(const llvm::BasicBlock* block) const {
    llvm::SmallPtrSet<const llvm::BasicBlock*, 8> seen;
    while (block != nullptr && seen.insert(block).second) {
      const auto found = first_piece_.find(block);
      if (found != first_piece_.end()) return found->second;
      block = block->getSingleSuccessor();
    }
    return kNone;
  }

  llvm::Function& function_;
  llvm::DenseMap<const llvm::BasicBlock*, std::uint64_t> first_piece_;
  llvm::DenseMap<const llvm::BasicBlock*, std::uint64_t> last_piece_;  // or of its dominator
  std::vector<std::pair<const llvm::BasicBlock*, std::uint64_t>> ends_;
};

SourceLine source_line(const llvm::DILocation& location, const llvm::DILocation* call,
                       unsigned calls = 0) {
  return {location.getScope(), call, location.getLine(), calls};
}

// A piece in the function, or in a function that was inlined at the call.
using PieceHere = std::pair<std::uint64_t, const llvm::DILocation*>;

class Collector {
 public:
  explicit Collector(llvm::Function& function) : function_(function) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!is_line_marker(instruction)) continue;
      markers_.push_back(&instruction);
      const auto piece = piece_of(instruction);
      if (!piece) continue;
      blocks_[*piece].push_back(instruction.getParent());
      pieces_of_[instruction.getParent()].push_back(*piece);
    }
  }

  void run() {
    if (markers_.empty()) return;
    dominators_.recalculate(function_);
    for (llvm::BasicBlock& block : function_) collect(block);
    for (llvm::Instruction* const marker : markers_) marker->eraseFromParent();
  }

 private:
  // None if its place is lost.
  static std::optional<PieceHere> piece_of(const llvm::Instruction& marker) {
    const llvm::DILocation* const place = marker.getDebugLoc().get();
    const std::uint64_t number =
        llvm::cast<llvm::PseudoProbeInst>(marker).getIndex()->getZExtValue();
    if (place == nullptr || number >= pieces().size()) return std::nullopt;
    return PieceHere(number, place->getInlinedAt());
  }

  void collect(llvm::BasicBlock& block) const {
    std::vector<SourceLine> lines;
    std::vector<SourceLine> before;
    std::vector<SourceLine> lost;
    unsigned calls = 0;
    for (const llvm::Instruction& instruction : block) {
      if (as_call(instruction) != nullptr) ++calls;
      const auto piece = is_line_marker(instruction) ? piece_of(instruction) : std::nullopt;
      if (!piece) continue;
      add_pieces_before(*piece, block, before);
      add_lines(*piece, lines, calls);
    }
    add_lost_pieces(block, lost);
    llvm::Instruction& last = *block.getTerminator();
    last.setMetadata(kLines, list_of(lines));
    if (!before.empty()) last.setMetadata(kLinesBefore, list_of(before));
    if (!lost.empty()) last.setMetadata(kLinesLost, list_of(lost));
  }

  [[nodiscard]] llvm::ArrayRef<PieceHere> pieces_in(const llvm::BasicBlock& block) const {
    const auto found = pieces_of_.find(&block);
    if (found == pieces_of_.end()) return {};
    return found->second;
  }

  static void add_lines(const PieceHere& piece, std::vector<SourceLine>& lines,
                        unsigned calls = 0) {
    for (const llvm::DILocation* const location : pieces()[piece.first].locations)
      lines.push_back(source_line(*location, piece.second, calls));
  }

  // Up to the first one that a block has which dominates this one: that block has those before.
  void add_pieces_before(const PieceHere& piece, const llvm::BasicBlock& block,
                         std::vector<SourceLine>& lines) const {
    for (std::uint64_t number = pieces()[piece.first].dominator; number != kNone;
         number = pieces()[number].dominator) {
      const PieceHere earlier(number, piece.second);
      const auto found = blocks_.find(earlier);
      if (found != blocks_.end() && llvm::any_of(found->second, [&](const llvm::BasicBlock* has) {
            return dominators_.dominates(has, &block);
          }))
        return;
      add_lines(earlier, lines);
    }
  }

  // Each piece must be followed by one that followed it before optimisation. Others between the two
  // are lost.
  void add_lost_pieces(const llvm::BasicBlock& block, std::vector<SourceLine>& lines) const {
    llvm::DenseMap<const llvm::DILocation*, std::uint64_t> following;  // by the call of the scope
    llvm::DenseSet<PieceHere> lost;
    for (const auto& [number, call] : llvm::reverse(pieces_in(block))) {
      const auto [next, is_last] = following.try_emplace(call, number);
      if (is_last) {
        for (const std::uint64_t other : pieces_after(block, call))
          find_lost(number, other, call, lost);
      } else {
        find_lost(number, next->second, call, lost);
        next->second = number;
      }
    }
    std::vector<PieceHere> sorted(lost.begin(), lost.end());
    llvm::sort(sorted, [](const PieceHere& a, const PieceHere& b) { return a.first < b.first; });
    for (const PieceHere& piece : sorted) add_lines(piece, lines);
  }

  // The next pieces of the same copy of a function on the ways from the end of the block. Empty: it
  // would take too long.
  [[nodiscard]] llvm::SmallVector<std::uint64_t, 4> pieces_after(
      const llvm::BasicBlock& block, const llvm::DILocation* call) const {
    constexpr std::size_t kMostBlocks = 64;
    llvm::SmallVector<std::uint64_t, 4> found;
    llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
    llvm::SmallVector<const llvm::BasicBlock*, 16> pending{&block};
    while (!pending.empty()) {
      const llvm::BasicBlock* const at = pending.pop_back_val();
      if (llvm::succ_empty(at)) found.push_back(kNone);
      for (const llvm::BasicBlock* const successor : llvm::successors(at)) {
        if (!seen.insert(successor).second) continue;
        if (seen.size() > kMostBlocks) return {};
        const auto next = llvm::find_if(
            pieces_in(*successor), [&](const PieceHere& piece) { return piece.second == call; });
        if (next == pieces_in(*successor).end()) {
          pending.push_back(successor);
        } else {
          // The function may have been called again.
          found.push_back(call != nullptr && pieces()[next->first].is_first ? kNone : next->first);
        }
      }
    }
    return found;
  }

  // Adds what lay between two pieces of a copy of a function; `kNone`: its end.
  static void find_lost(std::uint64_t from, std::uint64_t to, const llvm::DILocation* call,
                        llvm::DenseSet<PieceHere>& lost) {
    if (llvm::is_contained(pieces()[from].next, to)) return;
    // Only short ways: what is far away was not lost with one branch.
    constexpr unsigned kMostPieces = 4;
    std::size_t steps = 256;
    is_between(from, to, call, kMostPieces, steps, lost);
  }

  // Whether a way leads from a piece to the other. Adds those on the ways.
  static bool is_between(std::uint64_t at, std::uint64_t to, const llvm::DILocation* call,
                         unsigned depth, std::size_t& steps, llvm::DenseSet<PieceHere>& lost) {
    if (llvm::is_contained(pieces()[at].next, to)) return true;
    bool is_found = false;
    if (depth == 0) return false;
    for (const std::uint64_t next : pieces()[at].next) {
      if (next == kNone || steps == 0) continue;
      --steps;
      if (!is_between(next, to, call, depth - 1, steps, lost)) continue;
      lost.insert({next, call});
      is_found = true;
    }
    return is_found;
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
  std::vector<llvm::Instruction*> markers_;
  llvm::DenseMap<PieceHere, llvm::SmallVector<const llvm::BasicBlock*, 1>> blocks_;
  llvm::DenseMap<const llvm::BasicBlock*, std::vector<PieceHere>> pieces_of_;  // in their order
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

}  // namespace

bool is_unconditional_branch(const llvm::Instruction& instruction) {
  const auto* const branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
  return branch != nullptr && branch->isUnconditional();
}

bool is_line_marker(const llvm::Instruction& instruction) {
  const auto* const probe = llvm::dyn_cast<llvm::PseudoProbeInst>(&instruction);
  return probe != nullptr && probe->getFuncGuid()->getZExtValue() == kMarkerGroup;
}

void mark_source_lines(llvm::Module& module, bool only_coroutines) {
  pieces().clear();
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && !function.hasFnAttribute(llvm::Attribute::Naked) &&
        (!only_coroutines || function.isPresplitCoroutine()))
      FunctionMarker(function).run();
  }
}

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

void remove_source_lines(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (instruction.isTerminator()) {
        for (const char* const kind : {kLines, kLinesBefore, kLinesLost})
          instruction.setMetadata(kind, nullptr);
      } else if (is_line_marker(instruction)) {
        instruction.eraseFromParent();
      }
    }
  }
  pieces().clear();
}

}  // namespace telltale::instrument
