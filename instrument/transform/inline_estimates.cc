#include "transform/inline_estimates.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "analysis/ir_marks.h"

namespace telltale::instrument {
namespace {

// LLVM's cost units and limits: the cost of an instruction, and of a call without its arguments.
constexpr unsigned kInstruction = 5;
constexpr unsigned kCall = 25;
constexpr unsigned kLimit = 225;
// Twice LLVM's: the code has not been simplified yet.
constexpr unsigned kHintedLimit = 650;

// Is this the address of a local variable, or of a part of one?
bool is_local(const llvm::Value* address) {
  return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address));
}

// Instructions that disappear when variables are promoted to registers.
bool is_free(const llvm::Instruction& instruction) {
  if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) return true;
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Alloca:
    case llvm::Instruction::Ret:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::Unreachable:
    case llvm::Instruction::PHI:
      return true;
    case llvm::Instruction::Br:
      return llvm::cast<llvm::BranchInst>(instruction).isUnconditional();
    case llvm::Instruction::Load:
      return is_local(instruction.getOperand(0));
    case llvm::Instruction::Store:
      return is_local(instruction.getOperand(1));
    case llvm::Instruction::Call:
      if (const auto* const copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction))
        return is_local(copy->getDest()) && is_local(copy->getSource());
      return false;
    default:
      return false;
  }
}

unsigned cost_of_call(std::size_t arguments) {
  return kInstruction + kCall + kInstruction * static_cast<unsigned>(arguments);
}

}  // namespace

unsigned inline_limit_of(const llvm::Function& callee) {
  if (callee.hasOptSize() || callee.hasMinSize()) return kInlineLimitForSize;
  if (callee.hasFnAttribute(llvm::Attribute::InlineHint)) return kHintedLimit;
  // The call goes away. An eighth is for code that will be simplified before LLVM decides.
  return (kLimit + cost_of_call(callee.arg_size())) * 9 / 8;
}

void InlineEstimates::add(const llvm::Function& function) {
  InlineEstimate estimate;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (mark_of(instruction, unit_) != nullptr) {
      estimate.has_marks = true;
      continue;
    }
    if (is_free(instruction)) continue;
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call)) {
      estimate.units += kInstruction;
      continue;
    }
    const llvm::Function* const callee = call->getCalledFunction();
    if (callee != nullptr && callee != &function && is_small(*callee)) {
      const InlineEstimate& inlined = estimates_.at(callee);
      estimate.units += inlined.units;
      estimate.checks += inlined.checks;
    } else {
      estimate.units += cost_of_call(call->arg_size());
    }
  }
  if (estimate.has_marks) ++estimate.checks;
  estimates_[&function] = estimate;
}

void InlineEstimates::add_inlined(const llvm::Function& caller, const llvm::Function& callee) {
  estimates_[&caller].units += estimates_.at(&callee).units;
}

const InlineEstimate* InlineEstimates::find(const llvm::Function& function) const {
  const auto found = estimates_.find(&function);
  return found == estimates_.end() ? nullptr : &found->second;
}

bool InlineEstimates::is_small(const llvm::Function& function) const {
  const InlineEstimate* const estimate = find(function);
  return estimate != nullptr && !function.isInterposable() &&
         !function.hasFnAttribute(llvm::Attribute::NoInline) &&
         estimate->units <= inline_limit_of(function);
}

}  // namespace telltale::instrument
