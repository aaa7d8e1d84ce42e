#include "codegen/position_marks.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Metadata.h>

#include <cstring>

namespace telltale::instrument {
namespace {

llvm::SmallVector<std::uint64_t, 4> numbers_of(llvm::StringRef bytes) {
  llvm::SmallVector<std::uint64_t, 4> numbers(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(std::uint64_t));
  return numbers;
}

}  // namespace

void mark_assembly(llvm::CallInst& assembly, const char* mark,
                   llvm::ArrayRef<std::uint64_t> numbers) {
  llvm::LLVMContext& context = assembly.getContext();
  const llvm::StringRef bytes(reinterpret_cast<const char*>(numbers.data()),
                              numbers.size() * sizeof(std::uint64_t));
  // A distinct node: looking up an equal one takes longer than a copy, and few are equal.
  assembly.setMetadata("srcloc",
                       llvm::MDTuple::getDistinct(context, {llvm::MDString::get(context, mark),
                                                            llvm::MDString::get(context, bytes)}));
}

std::optional<AssemblyMark> mark_of(const llvm::MachineInstr& instruction) {
  if (!instruction.isInlineAsm() ||
      *instruction.getOperand(llvm::InlineAsm::MIOp_AsmString).getSymbolName() != '\0')
    return std::nullopt;
  for (const llvm::MachineOperand& operand : instruction.operands()) {
    if (!operand.isMetadata()) continue;
    const llvm::MDNode* const node = operand.getMetadata();
    if (node->getNumOperands() != 2) continue;
    const auto* const mark = llvm::dyn_cast<llvm::MDString>(node->getOperand(0));
    const auto* const numbers = llvm::dyn_cast<llvm::MDString>(node->getOperand(1));
    if (mark != nullptr && numbers != nullptr)
      return AssemblyMark{mark->getString(), numbers_of(numbers->getString())};
  }
  return std::nullopt;
}

llvm::SmallVector<llvm::ArrayRef<llvm::MachineOperand>, 8> operands_of(
    const llvm::MachineInstr& assembly) {
  llvm::SmallVector<llvm::ArrayRef<llvm::MachineOperand>, 8> operands;
  const llvm::ArrayRef all(assembly.operands_begin(), assembly.getNumOperands());
  for (std::size_t i = llvm::InlineAsm::MIOp_FirstOperand; i < all.size() && all[i].isImm();) {
    const llvm::InlineAsm::Flag flag(static_cast<std::uint32_t>(all[i].getImm()));
    const std::size_t count = flag.getNumOperandRegisters();
    if (!flag.isClobberKind()) operands.push_back(all.slice(i + 1, count));
    i += 1 + count;
  }
  return operands;
}

}  // namespace telltale::instrument
