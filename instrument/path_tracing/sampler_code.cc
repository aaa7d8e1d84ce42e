#include "path_tracing/sampler_code.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace telltale::instrument {
namespace {

bool is_sampler_name(llvm::StringRef name) {
  return name.starts_with("telltale.sampler.") || name.starts_with("telltale_sampler_");
}

const llvm::Value* base_of(const llvm::Value& pointer) {
  constexpr unsigned kAnyDistance = 0;
  return llvm::getUnderlyingObject(&pointer, kAnyDistance);
}

// Whether the program needs the instruction itself, not only its result.
bool has_effect(const llvm::Instruction& instruction) {
  if (instruction.mayHaveSideEffects() || instruction.isTerminator() || instruction.isEHPad())
    return true;
  // An access through a pointer can fault.
  if (const auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    const llvm::Value* const base = base_of(*load->getPointerOperand());
    if (!llvm::isa<llvm::AllocaInst>(base) && !llvm::isa<llvm::GlobalVariable>(base)) return true;
  }
  return instruction.use_empty() || llvm::isa<llvm::AllocaInst>(instruction);
}

}  // namespace

bool is_sampler_call(const llvm::CallBase& call) {
  if (const auto* const code = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    // Assembly of the source may access any memory, unless it has neither instructions nor
    // operands.
    const llvm::MemoryEffects effects = call.getMemoryEffects();
    return (effects.onlyAccessesInaccessibleMem() && !effects.doesNotAccessMemory()) ||
           (code->getAsmString().empty() && call.arg_empty());
  }
  const llvm::Function* const callee = call.getCalledFunction();
  return callee != nullptr && is_sampler_name(callee->getName());
}

bool has_sampler_code(const llvm::Module& module) {
  return module.getFunction("telltale.sampler.register") != nullptr;
}

SamplerCode::SamplerCode(const llvm::Function& function)
    : is_all_(is_sampler_name(function.getName())) {
  if (is_all_) return;
  follow(function);
  if (!instructions_.empty()) add_unneeded(function);
}

bool SamplerCode::is_of_sampler(const llvm::Value& value) const {
  if (const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(&value))
    return instructions_.contains(instruction);
  if (!value.getType()->isPointerTy()) return false;
  const auto* const variable = llvm::dyn_cast<llvm::GlobalVariable>(base_of(value));
  return variable != nullptr && is_sampler_name(variable->getName());
}

bool SamplerCode::is_place_of_sampler(const llvm::Value& pointer) const {
  return is_of_sampler(pointer) || is_of_sampler(*base_of(pointer)) ||
         locals_.contains(base_of(pointer));
}

// Whether an instruction is the Sampler's because an operand is. Optimisers may let the Sampler's
// conditions choose between values of the program, but no value of the program is computed from
// one of the Sampler's.
bool SamplerCode::follows(const llvm::Instruction& instruction) const {
  if (const llvm::Value* const pointer = llvm::getLoadStorePointerOperand(&instruction))
    return is_place_of_sampler(*pointer);
  if (const auto* const change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return is_place_of_sampler(*change->getPointerOperand());
  if (const auto* const exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return is_place_of_sampler(*exchange->getPointerOperand());
  const auto is_own = [&](const llvm::Use& use) { return is_of_sampler(*use.get()); };
  if (const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    if (is_sampler_call(*call)) return true;
    return call->getIntrinsicID() != llvm::Intrinsic::not_intrinsic &&
           llvm::any_of(call->args(), is_own);
  }
  if (const auto* const select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
    return is_of_sampler(*select->getTrueValue()) || is_of_sampler(*select->getFalseValue());
  if (llvm::isa<llvm::ReturnInst>(instruction)) return false;
  if (instruction.getType()->isIntegerTy(1) && instruction.isBitwiseLogicOp()) {
    return llvm::all_of(instruction.operands(), [&](const llvm::Use& use) {
      return llvm::isa<llvm::Constant>(use.get()) || is_own(use);
    });
  }
  return llvm::any_of(instruction.operands(), is_own);
}

void SamplerCode::follow(const llvm::Function& function) {
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!instructions_.contains(&instruction) && follows(instruction))
        is_new = instructions_.insert(&instruction).second || is_new;
      // A local variable that has such a value is the Sampler's.
      const auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store == nullptr || !is_of_sampler(*store->getValueOperand())) continue;
      const llvm::Value* const base = base_of(*store->getPointerOperand());
      if (llvm::isa<llvm::AllocaInst>(base)) is_new = locals_.insert(base).second || is_new;
    }
  }
}

// What the program computes is what its own effects need.
void SamplerCode::add_unneeded(const llvm::Function& function) {
  llvm::DenseSet<const llvm::Instruction*> needed;
  llvm::SmallVector<const llvm::Instruction*, 32> pending;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (!has(instruction) && has_effect(instruction) && needed.insert(&instruction).second)
      pending.push_back(&instruction);
  }
  while (!pending.empty()) {
    for (const llvm::Use& use : pending.pop_back_val()->operands()) {
      const auto* const operand = llvm::dyn_cast<llvm::Instruction>(use.get());
      if (operand != nullptr && !has(*operand) && needed.insert(operand).second)
        pending.push_back(operand);
    }
  }
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (!needed.contains(&instruction)) instructions_.insert(&instruction);
}

}  // namespace telltale::instrument
