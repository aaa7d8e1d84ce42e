#include "path_tracing/position_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "codegen/assembly_text.h"
#include "path_tracing/path_metadata.h"

namespace telltale::instrument {
namespace {

// Local labels of assembly can be defined repeatedly, so that optimisers may duplicate the code.
// The numbers are unlikely to occur in programs.
constexpr const char* kPushSection = "\t.pushsection .debug_telltale_paths,\"?\",%progbits\n";

std::uint8_t flags_of(const Position& position) {
  return static_cast<std::uint8_t>(position.phase) |
         (position.is_after_instruction ? csi::kAfterInstruction : std::uint8_t{0});
}

}  // namespace

struct PositionCode::Operands {
  void add(llvm::Value* operand, const char* constraint) {
    values.push_back(operand);
    if (!constraints.empty()) constraints += ',';
    constraints += constraint;
  }

  llvm::SmallVector<llvm::Value*, 8> values;
  std::string constraints;
  unsigned in_memory = 0;  // the first ones
};

PositionCode::PositionCode(const llvm::Module& module, std::uint64_t key, std::uint64_t first_id,
                           bool has_text)
    : key_(key),
      first_id_(first_id),
      address_(address_directive(module, "77102b")),
      is_little_endian_(module.getDataLayout().isLittleEndian()),
      has_text_(has_text) {}

llvm::CallInst* PositionCode::insert_assembly(llvm::IRBuilder<>& builder, const std::string& text,
                                              const Operands& operands) {
  std::vector<llvm::Type*> types;
  for (const llvm::Value* const operand : operands.values) types.push_back(operand->getType());
  llvm::InlineAsm* const assembly = llvm::InlineAsm::get(
      llvm::FunctionType::get(builder.getVoidTy(), types, false), text, operands.constraints, true);
  llvm::CallInst* const call = builder.CreateCall(assembly, operands.values);
  call->setDoesNotThrow();
  call->addFnAttr(llvm::Attribute::WillReturn);
  // Without text, only metadata tell two of them apart, which LLVM does not compare: code
  // generators for AArch64 and others move what two branches begin or end with into one place.
  call->addFnAttr(llvm::Attribute::NoMerge);
  call->setMemoryEffects(operands.in_memory == 0 ? llvm::MemoryEffects::inaccessibleMemOnly()
                                                 : llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  return call;
}

std::string PositionCode::bytes_of(std::uint64_t value, unsigned size) const {
  std::string bytes;
  for (unsigned i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  if (!is_little_endian_) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

std::string PositionCode::text_of(const Position& position) const {
  // As a string, which is parsed faster than a number for each field.
  const std::string fields = bytes_of(kPositionSize, 4) +
                             static_cast<char>(csi::RecordKind::kPosition) +
                             static_cast<char>(flags_of(position)) +
                             bytes_of(first_id_ + position.node, 4) + bytes_of(key_, 8);
  std::string text = ascii_directives(fields);
  // In inline assembly it begins an operand.
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at))
    text.replace(at, 1, "\\044");
  return std::string("77102:\n") + kPushSection + text + address_ + "\t.popsection";
}

std::uint64_t PositionCode::mark_of(const Position& position, MarkedChange change) const {
  return position_mark(static_cast<std::uint32_t>(first_id_ + position.node), flags_of(position),
                       change);
}

void PositionCode::insert(llvm::IRBuilder<>& builder, const Position& position) const {
  insert(builder, position, {});
}

llvm::CallInst* PositionCode::insert(llvm::IRBuilder<>& builder,
                                     const std::optional<Position>& start,
                                     llvm::ArrayRef<VariableChange> changes) const {
  Operands operands;
  for (const VariableChange& each : changes) operands.add(each.variable, "=*m");
  operands.in_memory = changes.size();
  for (const VariableChange& each : changes) operands.add(each.operand, "er");
  std::string text;
  llvm::SmallVector<std::uint64_t, 4> numbers;
  if (has_text_) {
    if (start) text = text_of(*start);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (!text.empty()) text += "\n";
      text += std::string(changes[i].kind == MarkedChange::kAdd ? "addq" : "movq") + " $" +
              std::to_string(changes.size() + i) + ", $" + std::to_string(i) + "\n" +
              text_of(changes[i].position);
    }
  } else {
    numbers.push_back(key_);
    if (start) numbers.push_back(mark_of(*start, MarkedChange::kNone));
    for (const VariableChange& each : changes) numbers.push_back(mark_of(each.position, each.kind));
  }
  if (llvm::any_of(changes,
                   [](const VariableChange& each) { return each.kind == MarkedChange::kAdd; }))
    operands.constraints += ",~{flags}";
  llvm::CallInst* const call = insert_assembly(builder, text, operands);
  if (!has_text_) mark_assembly(*call, kPositionsMark, numbers);
  for (unsigned i = 0; i < operands.in_memory; ++i)
    call->addParamAttr(i, llvm::Attribute::get(builder.getContext(), llvm::Attribute::ElementType,
                                               builder.getInt64Ty()));
  return call;
}

void PositionCode::insert_frame_record(llvm::IRBuilder<>& builder, const Frame& frame) const {
  Operands operands;
  std::uint64_t present = 0;
  std::string places[3];
  llvm::AllocaInst* const variables[] = {frame.sum, frame.array, frame.index};
  for (unsigned i = 0; i < 3; ++i) {
    places[i] = "\t.asciz \"";
    if (variables[i] != nullptr) {
      places[i] += "$" + std::to_string(operands.values.size());
      operands.add(variables[i], "*m");
      present |= std::uint64_t{1} << i;
    }
    places[i] += "\"\n";
  }
  operands.in_memory = operands.values.size();
  std::string text;
  if (has_text_) {
    text = std::string("77102:\n") + kPushSection + "\t.long 77104f-77103f\n77103:\n\t.byte " +
           std::to_string(static_cast<unsigned>(csi::RecordKind::kFrame)) + "\n\t.quad " +
           std::to_string(key_) + "\n" + address_ + places[1] + places[2] + places[0] +
           "77104:\n\t.popsection";
  }
  llvm::CallInst* const call = insert_assembly(builder, text, operands);
  if (!has_text_) mark_assembly(*call, kFrameMark, {key_, present});
  for (unsigned i = 0; i < operands.in_memory; ++i) {
    llvm::Type* const type = llvm::cast<llvm::AllocaInst>(operands.values[i])->getAllocatedType();
    call->addParamAttr(
        i, llvm::Attribute::get(builder.getContext(), llvm::Attribute::ElementType, type));
  }
}

void PositionCode::insert_difference(llvm::IRBuilder<>& builder, std::uint32_t node) const {
  Operands operands;
  operands.add(builder.getInt64(node), "i");
  insert_assembly(builder, "", operands);
}

void insert_block_positions(llvm::ArrayRef<llvm::BasicBlock*> blocks, std::uint64_t key) {
  const PositionCode code(*blocks.front()->getModule(), key, 0, false);
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    llvm::BasicBlock& block = *blocks[i];
    // In the entry, after the function's own variables.
    llvm::IRBuilder<> builder(
        &block, i == 0 ? block.getFirstNonPHIOrDbgOrAlloca() : block.getFirstInsertionPt());
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    code.insert(builder, {i, csi::Phase::kSettled, false});
  }
}

}  // namespace telltale::instrument
