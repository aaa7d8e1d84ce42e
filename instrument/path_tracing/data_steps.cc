#include "path_tracing/data_steps.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>

#include <tuple>

namespace telltale::instrument {
namespace {

// Instructions that are steps wherever their results are used.
bool is_always_step(const llvm::Instruction& instruction) {
  if (is_only_a_note(instruction)) return false;
  if (llvm::isa<llvm::PHINode>(instruction) || instruction.isEHPad()) return true;
  if (instruction.mayWriteToMemory()) return true;
  if (as_call(instruction) != nullptr) return true;
  if (llvm::isa<llvm::ReturnInst>(instruction)) return instruction.getNumOperands() != 0;
  return instruction.isTerminator() &&
         (instruction.getNumSuccessors() > 1 || llvm::isa<llvm::ResumeInst>(instruction));
}

auto place_of(const llvm::Instruction& instruction) {
  const llvm::DILocation* const location = instruction.getDebugLoc().get();
  if (location == nullptr)
    return std::tuple(0U, static_cast<const void*>(nullptr), static_cast<const void*>(nullptr));
  return std::tuple(location->getLine(),
                    static_cast<const void*>(location->getScope()->getSubprogram()),
                    static_cast<const void*>(location->getInlinedAt()));
}

bool has_line(const llvm::Instruction& instruction) {
  return instruction.getDebugLoc() && instruction.getDebugLoc().getLine() != 0;
}

}  // namespace

bool is_only_a_note(const llvm::Instruction& instruction) {
  const auto* const intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (intrinsic == nullptr) return llvm::isa<llvm::FenceInst>(instruction);
  if (intrinsic->isLifetimeStartOrEnd() || intrinsic->isAssumeLikeIntrinsic()) return true;
  switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::stacksave:
    case llvm::Intrinsic::stackrestore:
    case llvm::Intrinsic::prefetch:
    case llvm::Intrinsic::donothing:
    case llvm::Intrinsic::vaend:
      return true;
    default:
      return false;
  }
}

const llvm::CallBase* as_call(const llvm::Instruction& instruction) {
  const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call) || call->isInlineAsm())
    return nullptr;
  return call;
}

bool DataSteps::is_fixed(const llvm::Instruction& instruction) const {
  if (const auto* const local = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
    return llvm::isa<llvm::Constant>(local->getArraySize());
  if (instruction.mayReadFromMemory() || instruction.isTerminator() ||
      llvm::isa<llvm::PHINode>(instruction))
    return false;
  return llvm::all_of(instruction.operands(), [&](const llvm::Use& use) {
    if (llvm::isa<llvm::Constant>(use.get())) return true;
    const auto* const operand = llvm::dyn_cast<llvm::Instruction>(use.get());
    return operand != nullptr && fixed_.contains(operand);
  });
}

// From the end to the beginning: whether the step that uses an instruction is known before it.
void DataSteps::choose(const llvm::BasicBlock& block) {
  llvm::DenseMap<const llvm::Instruction*, unsigned> writes;
  unsigned written = 0;
  for (const llvm::Instruction& instruction : block) {
    writes[&instruction] = written;
    if (instruction.mayWriteToMemory() && !is_only_a_note(instruction) &&
        !is_of_sampler(instruction))
      ++written;
  }
  llvm::DenseMap<const llvm::Instruction*, Use> used_by;  // parts of steps
  for (const llvm::Instruction& instruction : llvm::reverse(block)) {
    if (is_of_sampler(instruction)) {
      if (as_call(instruction) != nullptr ||
          (instruction.isTerminator() && instruction.getNumSuccessors() > 1))
        are_steps_.insert(&instruction);
      continue;
    }
    if (is_always_step(instruction)) {
      are_steps_.insert(&instruction);
      continue;
    }
    if (instruction.getType()->isVoidTy() || fixed_.contains(&instruction)) continue;
    if (instruction.use_empty()) {
      // An access can fault though nothing needs its result.
      if (instruction.mayReadFromMemory()) are_steps_.insert(&instruction);
      continue;
    }
    const auto* const user = llvm::dyn_cast<llvm::Instruction>(*instruction.user_begin());
    const bool has_one_user =
        llvm::all_of(instruction.users(), [&](const llvm::User* each) { return each == user; });
    Use use;
    if (has_one_user && user != nullptr && user->getParent() == &block &&
        !llvm::isa<llvm::PHINode>(user)) {
      if (are_steps_.contains(user)) use = {.step = user, .writes = writes[user]};
      if (const auto part = used_by.find(user); part != used_by.end()) use = part->second;
    }
    // What is read must be what it is when the step begins.
    const bool is_part = use.step != nullptr &&
                         (!has_line(instruction) || place_of(instruction) == place_of(*use.step)) &&
                         (!instruction.mayReadFromMemory() || use.writes == writes[&instruction]);
    if (is_part) {
      used_by[&instruction] = use;
    } else {
      are_steps_.insert(&instruction);
    }
  }
}

DataSteps::DataSteps(const llvm::Function& function,
                     const std::vector<const llvm::BasicBlock*>& blocks)
    : sampler_(function) {
  for (const llvm::Argument& parameter : function.args())
    values_[&parameter] = parameter.getArgNo();
  // Blocks need not be in an order of dominance: one more round for each that is not.
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const llvm::BasicBlock* const block : blocks) {
      for (const llvm::Instruction& instruction : *block) {
        if (!fixed_.contains(&instruction) && is_fixed(instruction))
          is_new = fixed_.insert(&instruction).second || is_new;
      }
    }
  }
  for (const llvm::BasicBlock* const block : blocks) choose(*block);
  auto next = static_cast<std::uint32_t>(function.arg_size());
  for (const llvm::BasicBlock* const block : blocks) {
    auto& steps = steps_.emplace_back();
    for (const llvm::Instruction& instruction : *block) {
      if (!is_step(instruction)) continue;
      steps.push_back(&instruction);
      if (!instruction.getType()->isVoidTy() && !instruction.use_empty() &&
          !is_of_sampler(instruction))
        values_[&instruction] = next++;
    }
  }
}

std::optional<std::uint32_t> DataSteps::value(const llvm::Value& value) const {
  const auto found = values_.find(&value);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

}  // namespace telltale::instrument
