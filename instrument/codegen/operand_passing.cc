#include "codegen/operand_passing.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <vector>

#include "analysis/ir_marks.h"

namespace telltale::instrument {

namespace {

bool is_64_bit(const llvm::Module& module) {
  return llvm::Triple(module.getTargetTriple()).isArch64Bit();
}

// Whether it is what emit_settled() emits.
bool is_settled(const llvm::Instruction* value) {
  if (value == nullptr) return false;
  if (llvm::isa<llvm::FreezeInst>(value)) return true;
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(value);
  return call != nullptr && call->isInlineAsm();
}

}  // namespace

bool OperandPassing::has_vectors() {
  if (has_vectors_.has_value()) return *has_vectors_;
  const llvm::Module& module = tables_.module();
  const llvm::Triple target(module.getTargetTriple());
  has_vectors_ = (target.getArch() == llvm::Triple::x86_64 || target.isAArch64()) &&
                 std::none_of(module.begin(), module.end(), [](const llvm::Function& one) {
                   const llvm::StringRef features =
                       one.getFnAttribute("target-features").getValueAsString();
                   return features.contains("-sse2") || features.contains("-sse,") ||
                          features.contains("-neon");
                 });
  return *has_vectors_;
}

OperandPassing::Convention OperandPassing::convention(llvm::Type* number) {
  constexpr unsigned kBits = 128;
  if (!has_vectors()) return {2, 2, number};
  const unsigned lanes = kBits / number->getIntegerBitWidth();
  return {kLanes, kLanes / lanes, llvm::FixedVectorType::get(number, lanes)};
}

llvm::FunctionType* OperandPassing::function_type(llvm::Type* result,
                                                  llvm::ArrayRef<llvm::Type*> leading,
                                                  llvm::Type* number) {
  std::vector<llvm::Type*> types(leading.begin(), leading.end());
  const Convention how = convention(number);
  types.insert(types.end(), how.arguments, how.argument_type);
  return llvm::FunctionType::get(result, types, false);
}

void OperandPassing::for_each_batch(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                    const Mark& mark, llvm::Type* number, unsigned begin,
                                    unsigned end, const EmitBatch& emit) {
  const bool is_signed = site_of(tables_.unit(), mark, 0).kind == ValueKind::kSigned;
  const Convention how = convention(number);
  for (unsigned first = begin; first < end; first += how.operands_per_call) {
    const unsigned count = std::min(how.operands_per_call, end - first);
    std::vector<llvm::Value*> arguments(how.arguments, llvm::PoisonValue::get(how.argument_type));
    for (unsigned i = 0; i < count; ++i) {
      llvm::Value* operand = emit_operand(at, call, mark, first + i);
      // make_array() freezes the operands; a freeze here would prevent optimisations.
      if (auto* const settled = llvm::dyn_cast<llvm::Instruction>(operand); is_settled(settled)) {
        operand = settled->getOperand(0);
        settled->eraseFromParent();
      }
      llvm::Value* const value = operand->getType()->isPointerTy()
                                     ? at.CreatePtrToInt(operand, number)
                                     : at.CreateIntCast(operand, number, is_signed);
      llvm::Value*& argument = arguments[i / how.lanes()];
      argument = how.argument_type == number
                     ? value
                     : at.CreateInsertElement(argument, value, i % how.lanes());
    }
    emit(first, count, arguments);
  }
}

llvm::Value* OperandPassing::make_array(llvm::IRBuilderBase& at, llvm::Function& function,
                                        unsigned first, llvm::Type* number) {
  const Convention how = convention(number);
  // Vector loads may read beyond the last operand.
  llvm::Value* const array =
      at.CreateAlloca(llvm::ArrayType::get(number, std::max(how.operands_per_call, kLanes)));
  for (unsigned i = 0; i < how.arguments; ++i) {
    at.CreateAlignedStore(at.CreateFreeze(function.getArg(first + i)),
                          at.CreateConstGEP1_64(number, array, i * how.lanes()),
                          llvm::Align(number->getIntegerBitWidth() / 8));
  }
  return array;
}

bool OperandPassing::has_many_marks(const llvm::BasicBlock& block) {
  constexpr auto kMany = 64;
  const auto [known, is_new] = has_many_marks_.try_emplace(&block, false);
  if (is_new) {
    known->second = llvm::count_if(block, [&](const llvm::Instruction& each) {
                      return mark_of(each, tables_.unit()) != nullptr;
                    }) >= kMany;
  }
  return known->second;
}

// Optimisers push a freeze through whole chains of additions that no other value needs, and visit
// the block again for each step: the time grows with the cube of the chain. An empty piece of
// assembly stops them.
llvm::Value* OperandPassing::emit_settled(llvm::IRBuilderBase& at, llvm::Value* value) {
  llvm::Type* const type = value->getType();
  const bool fits_register = type->isPointerTy() || type->isIntegerTy(32) ||
                             (type->isIntegerTy(64) && is_64_bit(tables_.module()));
  if (llvm::isa<llvm::Constant>(value) || !fits_register || !has_many_marks(*at.GetInsertBlock()))
    return at.CreateFreeze(value);
  llvm::CallInst* const copy = at.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "", "=r,0", false),
      {value});
  copy->setDoesNotAccessMemory();
  copy->setDoesNotThrow();
  copy->addFnAttr(llvm::Attribute::WillReturn);
  return copy;
}

llvm::Value* OperandPassing::emit_operand(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                          const Mark& mark, unsigned index) {
  llvm::Type* const type = call.getArgOperand(1)->getType();
  const Operand& operand = mark.operands[index];
  if (operand.is_constant) {
    if (type->isPointerTy()) return llvm::Constant::getNullValue(type);
    return llvm::ConstantInt::get(tables_.i64(), static_cast<std::uint64_t>(operand.number));
  }
  // bool is i1 in registers and i8 in memory. The variable may be uninitialised, hence the freeze.
  llvm::Type* const stored = type->isIntegerTy(1) ? at.getInt8Ty() : type;
  llvm::Value* address = call.getArgOperand(operand_argument(mark, index));
  if (is_weak(address))
    address = at.CreateSelect(at.CreateIsNotNull(address), address, tables_.null_operand());
  llvm::Value* const value = emit_settled(at, at.CreateLoad(stored, address));
  return stored == type ? value : at.CreateICmpNE(value, at.getInt8(0));
}

llvm::Value* OperandPassing::emit_value(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                        const Mark& mark, llvm::Type* number) {
  const bool is_signed = site_of(tables_.unit(), mark, 0).kind == ValueKind::kSigned;
  llvm::Value* const value = call.getArgOperand(1);
  return value->getType()->isPointerTy() ? at.CreatePtrToInt(value, number)
                                         : at.CreateIntCast(value, number, is_signed);
}

}  // namespace telltale::instrument
