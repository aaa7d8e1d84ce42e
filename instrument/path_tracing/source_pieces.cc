#include "path_tracing/source_pieces.h"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <utility>

#include "path_tracing/data_steps.h"
#include "path_tracing/unseen_calls.h"
#include "source_function.h"
#include "translation_unit.h"

namespace telltale::instrument {
namespace {

// The variable that a store or a memset or memcpy writes to; null: another instruction or place.
llvm::Value* written_variable(const llvm::Instruction& instruction) {
  const llvm::Value* to = nullptr;
  if (const auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (store->isSimple()) to = store->getPointerOperand();
  } else if (const auto* const copy = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
    if (!copy->isVolatile()) to = copy->getRawDest();
  }
  return to == nullptr ? nullptr : const_cast<llvm::Value*>(llvm::getUnderlyingObject(to));
}

// Notes what an instruction writes, and its other effects. Ignores calls.
void note_effects(const llvm::Instruction& instruction, Piece& piece) {
  if (as_call(instruction) != nullptr || is_only_a_note(instruction)) return;
  llvm::Value* const variable = written_variable(instruction);
  if (variable == nullptr)
    piece.has_effects = piece.has_effects || instruction.mayHaveSideEffects();
  if (variable == nullptr || llvm::isa<llvm::AllocaInst>(variable)) return;
  auto* const global = llvm::dyn_cast<llvm::GlobalVariable>(variable);
  if (llvm::isa<llvm::LoadInst, llvm::CallBase>(variable)) {
    piece.writes_by_pointer = true;
  } else if (global == nullptr || !global->hasLocalLinkage()) {
    piece.writes_elsewhere = true;
  } else if (!llvm::is_contained(piece.written, global)) {
    piece.written.emplace_back(global);
  }
}

// Whether the function gets memory that nobody else has, as from malloc.
bool gets_memory(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    const llvm::CallBase* const call = as_call(instruction);
    return call != nullptr &&
           (call->returnDoesNotAlias() || call->hasFnAttr(llvm::Attribute::AllocKind));
  });
}

bool may_have_effects(const llvm::CallBase& call) {
  return !(call.onlyReadsMemory() && call.doesNotThrow() &&
           call.hasFnAttr(llvm::Attribute::WillReturn));
}

bool is_code(const llvm::Instruction& instruction) {
  return !is_unconditional_branch(instruction) && !instruction.isLifetimeStartOrEnd() &&
         !is_line_marker(instruction);
}

// A mark of a site; the value that it forwards is computed by instructions of the source.
bool is_mark_of_sampler(const llvm::Instruction& instruction) {
  const llvm::CallBase* const call = as_call(instruction);
  const llvm::Function* const callee = call == nullptr ? nullptr : call->getCalledFunction();
  return callee != nullptr && callee->getName().starts_with(kMarkPrefix);
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
  FunctionMarker(llvm::Function& function, bool is_optimised)
      : function_(function), is_optimised_(is_optimised) {}

  void run() {
    const std::uint64_t first = pieces().size();
    // What dominates code of a coroutine may have run in an earlier activation.
    const bool knows_dominators = !function_.isPresplitCoroutine();
    const llvm::DominatorTree dominators(function_);
    for (const llvm::DomTreeNode* const node : llvm::depth_first(dominators.getRootNode())) {
      const llvm::DomTreeNode* const parent = node->getIDom();
      const std::uint64_t dominator =
          parent == nullptr ? kNoPiece : last_piece_.at(parent->getBlock());
      const std::uint64_t last = mark(*node->getBlock(), dominator);
      last_piece_[node->getBlock()] = knows_dominators ? last : kNoPiece;
    }
    if (first != pieces().size()) pieces()[first].is_first = true;
    const bool with_memory = gets_memory(function_);
    const llvm::FunctionType* const taken_as =
        function_.hasAddressTaken() ? function_.getFunctionType() : nullptr;
    for (std::uint64_t i = first; i < pieces().size(); ++i) {
      pieces()[i].function = function_.getSubprogram();
      pieces()[i].taken_as = taken_as;
      pieces()[i].function_gets_memory = with_memory;
      pieces()[i].is_optimised = is_optimised_;
    }
    if (const llvm::DISubprogram* const subprogram = function_.getSubprogram())
      ranges_of_pieces()[subprogram] = {first, pieces().size()};
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
    std::uint64_t last = kNoPiece;  // of this block
    for (; at != nullptr; at = at->getNextNode()) {
      if (first == nullptr && is_code(*at)) first = at;
      note_effects(*at, piece);
      llvm::DILocation* const location = place_in_source(*at);
      if (location != nullptr && (piece.locations.empty() || piece.locations.back() != location))
        piece.locations.push_back(location);
      if (first == nullptr || !(at->isTerminator() || ends_piece(*at))) continue;
      if (const llvm::CallBase* const call = as_call(*at)) note_call(*call, piece);
      if (at->isTerminator() && at->getNumSuccessors() > 1) piece.branch_place = location;
      const auto* const call = llvm::dyn_cast<llvm::CallInst>(at);
      const std::uint64_t number = insert_marker(*first, std::move(piece));
      if (last == kNoPiece) first_piece_[&block] = number;
      if (last != kNoPiece) pieces()[last].next.push_back(number);
      last = number;
      // Nothing may be between such a call and the return.
      if (call != nullptr && call->isMustTailCall()) break;
      first = nullptr;
      piece = Piece{.dominator = number};
    }
    if (last == kNoPiece) return dominator;
    ends_.emplace_back(&block, last);
    return last;
  }

  static void note_call(const llvm::CallBase& call, Piece& piece) {
    piece.ends_with_call = true;
    piece.call_has_effects = may_have_effects(call);
    const auto callee = callee_through_alias(call);
    if (!callee && !call.isInlineAsm()) piece.called_by_pointer = call.getFunctionType();
    if (!call.getDebugLoc()) return;
    piece.call_place = call.getDebugLoc().get();
    if (callee) piece.callee = callee->source.subprogram;
  }

  void add_next(const llvm::BasicBlock& block, std::uint64_t piece) const {
    llvm::SmallVector<std::uint64_t, 2> next;
    if (llvm::succ_empty(&block)) next.push_back(kNoPiece);
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
    return kNoPiece;
  }

  llvm::Function& function_;
  bool is_optimised_;
  llvm::DenseMap<const llvm::BasicBlock*, std::uint64_t> first_piece_;
  llvm::DenseMap<const llvm::BasicBlock*, std::uint64_t> last_piece_;  // or of its dominator
  std::vector<std::pair<const llvm::BasicBlock*, std::uint64_t>> ends_;
};

}  // namespace

std::vector<Piece>& pieces() {
  static std::vector<Piece> the_pieces;
  return the_pieces;
}

llvm::DenseMap<const llvm::DISubprogram*, PieceRange>& ranges_of_pieces() {
  static llvm::DenseMap<const llvm::DISubprogram*, PieceRange> the_ranges;
  return the_ranges;
}

llvm::DILocation* place_in_source(const llvm::Instruction& instruction) {
  llvm::DILocation* const location = instruction.getDebugLoc().get();
  const bool has_line = location != nullptr && location->getLine() != 0;
  const bool is_of_source = is_code(instruction) && !is_mark_of_sampler(instruction);
  return has_line && is_of_source ? location : nullptr;
}

bool is_unconditional_branch(const llvm::Instruction& instruction) {
  const auto* const branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
  return branch != nullptr && branch->isUnconditional();
}

bool is_line_marker(const llvm::Instruction& instruction) {
  const auto* const probe = llvm::dyn_cast<llvm::PseudoProbeInst>(&instruction);
  return probe != nullptr && probe->getFuncGuid()->getZExtValue() == kMarkerGroup;
}

void mark_source_lines(llvm::Module& module, bool is_optimised, bool is_sampled) {
  pieces().clear();
  ranges_of_pieces().clear();
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.hasFnAttribute(llvm::Attribute::Naked)) continue;
    const bool changes = is_optimised || function.isPresplitCoroutine();
    if (changes || is_sampled) FunctionMarker(function, changes).run();
  }
  note_unseen_calls(module);
}

}  // namespace telltale::instrument
