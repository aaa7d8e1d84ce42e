#include "path_tracing/source_lines.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/STLExtras.h>
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

using Locations = std::vector<llvm::DILocation*>;

// Code that runs from its beginning to its end, if no call in its last instruction prevents it.
struct Piece {
  Locations locations;
  std::uint64_t dominator;  // of the same function; `kNone`: none, or not known
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

// Returns the last piece of the block; `dominator` if it has none. A piece gets a marker even if it
// has no lines: code must not depend on whether there is debug information.
std::uint64_t mark(llvm::BasicBlock& block, std::uint64_t dominator) {
  if (block.getFirstInsertionPt() == block.end()) return dominator;
  llvm::Instruction* at = &*block.getFirstInsertionPt();
  while (llvm::isa<llvm::AllocaInst>(at)) at = at->getNextNode();
  llvm::Instruction* first = nullptr;  // of the piece's code
  Piece piece{.locations = {}, .dominator = dominator};
  for (; at != nullptr; at = at->getNextNode()) {
    if (first == nullptr && is_code(*at)) first = at;
    llvm::DILocation* const location = place_in_source(*at);
    if (location != nullptr && (piece.locations.empty() || piece.locations.back() != location))
      piece.locations.push_back(location);
    if (first == nullptr || !(at->isTerminator() || ends_piece(*at))) continue;
    const auto* const call = llvm::dyn_cast<llvm::CallInst>(at);
    dominator = insert_marker(*first, std::exchange(piece, {}));
    // Nothing may be between such a call and the return.
    if (call != nullptr && call->isMustTailCall()) break;
    first = nullptr;
    piece.dominator = dominator;
  }
  return dominator;
}

void mark(llvm::Function& function) {
  // What dominates code of a coroutine may have run in an earlier activation.
  const bool knows_dominators = !function.isPresplitCoroutine();
  llvm::DominatorTree dominators(function);
  llvm::DenseMap<const llvm::BasicBlock*, std::uint64_t> last_piece;
  for (const llvm::DomTreeNode* const node : llvm::depth_first(dominators.getRootNode())) {
    const llvm::DomTreeNode* const parent = node->getIDom();
    const std::uint64_t dominator = parent == nullptr ? kNone : last_piece.at(parent->getBlock());
    const std::uint64_t last = mark(*node->getBlock(), dominator);
    last_piece[node->getBlock()] = knows_dominators ? last : kNone;
  }
}

SourceLine source_line(const llvm::DILocation& location, const llvm::DILocation* call) {
  return {location.getScope(), call, location.getLine()};
}

// A piece in the function, or in a function that was inlined at the call.
using PieceHere = std::pair<std::uint64_t, const llvm::DILocation*>;

class Collector {
 public:
  explicit Collector(llvm::Function& function) : function_(function) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!is_line_marker(instruction)) continue;
      markers_.push_back(&instruction);
      if (const auto piece = piece_of(instruction))
        blocks_[*piece].push_back(instruction.getParent());
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
    for (const llvm::Instruction& instruction : block) {
      if (!is_line_marker(instruction)) continue;
      const auto piece = piece_of(instruction);
      if (!piece) continue;
      add_pieces_before(*piece, block, before);
      add_lines(*piece, lines);
    }
    llvm::Instruction& last = *block.getTerminator();
    last.setMetadata(kLines, list_of(lines));
    if (!before.empty()) last.setMetadata(kLinesBefore, list_of(before));
  }

  static void add_lines(const PieceHere& piece, std::vector<SourceLine>& lines) {
    for (const llvm::DILocation* const location : pieces()[piece.first].locations)
      lines.push_back(source_line(*location, piece.second));
  }

  // Up to the first one that a block has which dominates this one: that block has those before.
  void add_pieces_before(const PieceHere& piece, const llvm::BasicBlock& block,
                         std::vector<SourceLine>& lines) const {
    for (std::uint64_t number = pieces()[piece.first].dominator; number != kNone;
         number = pieces()[number].dominator) {
      const PieceHere earlier(number, piece.second);
      const auto found = blocks_.find(earlier);
      if (found != blocks_.end() &&
          llvm::any_of(found->second, [&](const llvm::BasicBlock* has) {
            return dominators_.dominates(has, &block);
          }))
        return;
      add_lines(earlier, lines);
    }
  }

  [[nodiscard]] llvm::MDNode* list_of(const std::vector<SourceLine>& lines) const {
    llvm::SmallVector<llvm::Metadata*, 16> locations;
    for (const SourceLine& line : lines) {
      locations.push_back(llvm::DILocation::get(function_.getContext(), line.line, 0,
                                                const_cast<llvm::DILocalScope*>(line.scope),
                                                const_cast<llvm::DILocation*>(line.call)));
    }
    return llvm::MDTuple::get(function_.getContext(), locations);
  }

  llvm::Function& function_;
  std::vector<llvm::Instruction*> markers_;
  llvm::DenseMap<PieceHere, llvm::SmallVector<const llvm::BasicBlock*, 1>> blocks_;
  llvm::DominatorTree dominators_;
};

std::vector<SourceLine> lines_in(const llvm::MDNode& list) {
  std::vector<SourceLine> lines;
  for (const llvm::MDOperand& operand : list.operands()) {
    const auto& location = *llvm::cast<llvm::DILocation>(operand.get());
    lines.push_back(source_line(location, location.getInlinedAt()));
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

void mark_source_lines(llvm::Module& module) {
  pieces().clear();
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && !function.hasFnAttribute(llvm::Attribute::Naked))
      mark(function);
  }
}

void collect_source_lines(llvm::Function& function) { Collector(function).run(); }

std::vector<SourceLine> source_lines(const llvm::BasicBlock& block) {
  if (const llvm::MDNode* const list = block.getTerminator()->getMetadata(kLines))
    return lines_in(*list);
  std::vector<SourceLine> lines;
  for (const llvm::Instruction& instruction : block) {
    if (const llvm::DILocation* const location = place_in_source(instruction))
      lines.push_back(source_line(*location, location->getInlinedAt()));
  }
  return lines;
}

std::vector<SourceLine> lines_before(const llvm::BasicBlock& block) {
  const llvm::MDNode* const list = block.getTerminator()->getMetadata(kLinesBefore);
  return list == nullptr ? std::vector<SourceLine>() : lines_in(*list);
}

void remove_source_lines(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (instruction.isTerminator()) {
        instruction.setMetadata(kLines, nullptr);
        instruction.setMetadata(kLinesBefore, nullptr);
      } else if (is_line_marker(instruction)) {
        instruction.eraseFromParent();
      }
    }
  }
  pieces().clear();
}

}  // namespace telltale::instrument
