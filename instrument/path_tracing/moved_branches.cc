#include "path_tracing/moved_branches.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace telltale::instrument {
namespace {

bool is_at(const llvm::Instruction& instruction, const llvm::DILocation* place,
           const llvm::DILocation* call) {
  const llvm::DILocation* const at = instruction.getDebugLoc().get();
  return at != nullptr && place != nullptr && at->getLine() == place->getLine() &&
         at->getColumn() == place->getColumn() && at->getScope() == place->getScope() &&
         at->getInlinedAt() == call;
}

// Of a condition that is known where the code is, nothing is left.
bool computes_from_condition(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::SelectInst, llvm::CmpInst, llvm::CastInst, llvm::BinaryOperator,
                   llvm::MinMaxIntrinsic>(instruction);
}

// Whether a part of the condition was hoisted: LLVM drops the debug location of such instructions.
bool has_moved_part(const llvm::Value& condition, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 8;
  const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(&condition);
  if (instruction == nullptr) return false;
  if (!llvm::isa<llvm::BinaryOperator, llvm::SelectInst, llvm::FreezeInst>(instruction) ||
      depth == kMostDepth)
    return instruction->getDebugLoc().get() == nullptr;
  return llvm::any_of(instruction->operands(), [&](const llvm::Use& part) {
    return part->getType()->isIntegerTy(1) && has_moved_part(*part, depth + 1);
  });
}

}  // namespace

bool chooses_values(const llvm::BasicBlock& block, const Piece& piece,
                    const llvm::DILocation* call) {
  if (piece.branch_place == nullptr) return false;
  return llvm::any_of(block, [&](const llvm::Instruction& instruction) {
    return computes_from_condition(instruction) && is_at(instruction, piece.branch_place, call);
  });
}

bool ends_with_branch_of(const llvm::BasicBlock& block, const Piece& piece,
                         const llvm::DILocation* call) {
  const llvm::Instruction& last = *block.getTerminator();
  const auto* const branch = llvm::dyn_cast<llvm::BranchInst>(&last);
  const bool has_parts = branch != nullptr && branch->isConditional();
  return is_at(last, piece.branch_place, call) &&
         !(has_parts && has_moved_part(*branch->getCondition()));
}

}  // namespace telltale::instrument
