// How functions of the unit that observe pairs get their operands.
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <vector>

#include "codegen/counters.h"

namespace telltale::instrument {

// Vector registers hold sixteen numbers of 64 bits where eight of them pass arguments.
bool Counters::has_vectors() {
  if (has_vectors_.has_value()) return *has_vectors_;
  const llvm::Triple target(module_.getTargetTriple());
  has_vectors_ = (target.getArch() == llvm::Triple::x86_64 || target.isAArch64()) &&
                 std::none_of(module_.begin(), module_.end(), [](const llvm::Function& one) {
                   const llvm::StringRef features =
                       one.getFnAttribute("target-features").getValueAsString();
                   return features.contains("-sse2") || features.contains("-sse,") ||
                          features.contains("-neon");
                 });
  return *has_vectors_;
}

Counters::OperandPassing Counters::operand_passing(llvm::Type* number) {
  constexpr unsigned kBits = 128;
  if (!has_vectors()) return {2, 2, number};
  const unsigned lanes = kBits / number->getIntegerBitWidth();
  return {kTallyLanes, kTallyLanes / lanes, llvm::FixedVectorType::get(number, lanes)};
}

llvm::FunctionType* Counters::observer_type(llvm::Type* result, llvm::ArrayRef<llvm::Type*> first,
                                            llvm::Type* number) {
  std::vector<llvm::Type*> types(first.begin(), first.end());
  const OperandPassing how = operand_passing(number);
  types.insert(types.end(), how.parts, how.part);
  return llvm::FunctionType::get(result, types, false);
}

void Counters::pass_operands(
    llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark, llvm::Type* number,
    const std::function<void(unsigned, unsigned, llvm::ArrayRef<llvm::Value*>)>& observe) {
  const bool is_signed = unit_.sites[mark.sites[0]].kind == ValueKind::kSigned;
  const OperandPassing how = operand_passing(number);
  const auto sites = static_cast<unsigned>(mark.sites.size());
  for (unsigned first = 0; first < sites; first += how.at_once) {
    const unsigned count = std::min(how.at_once, sites - first);
    std::vector<llvm::Value*> parts(how.parts, llvm::PoisonValue::get(how.part));
    const unsigned lanes = how.at_once / how.parts;
    for (unsigned i = 0; i < count; ++i) {
      llvm::Value* operand = operand_value(at, call, mark, first + i);
      // They are frozen where they arrive; here it would keep LLVM from simple code.
      if (auto* const frozen = llvm::dyn_cast<llvm::FreezeInst>(operand); frozen != nullptr) {
        operand = frozen->getOperand(0);
        frozen->eraseFromParent();
      }
      llvm::Value* const value = operand->getType()->isPointerTy()
                                     ? at.CreatePtrToInt(operand, number)
                                     : at.CreateIntCast(operand, number, is_signed);
      llvm::Value*& part = parts[i / lanes];
      part = how.part == number ? value : at.CreateInsertElement(part, value, i % lanes);
    }
    observe(first, count, parts);
  }
}

llvm::Value* Counters::make_operand_array(llvm::IRBuilderBase& at, llvm::Function& function,
                                          unsigned first, llvm::Type* number) {
  const OperandPassing how = operand_passing(number);
  // Whoever reads several at a time may read beyond the last.
  llvm::Value* const array =
      at.CreateAlloca(llvm::ArrayType::get(number, std::max(how.at_once, kTallyLanes)));
  for (unsigned i = 0; i < how.parts; ++i) {
    at.CreateAlignedStore(at.CreateFreeze(function.getArg(first + i)),
                          at.CreateConstGEP1_64(number, array, i * (how.at_once / how.parts)),
                          llvm::Align(number->getIntegerBitWidth() / 8));
  }
  return array;
}

}  // namespace telltale::instrument
