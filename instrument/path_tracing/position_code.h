// Positions in the code of a function: which block runs, and in which state its variables are.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <optional>
#include <string>

#include "codegen/position_marks.h"
#include "formats/csi/wire.h"

namespace telltale::instrument {

// A place in a function, and the phase of its path variables there.
struct Position {
  std::uint32_t node;
  csi::Phase phase;
  bool is_after_instruction = true;  // else it is the start of the node's block
};

// An x86-64 instruction that changes a variable in memory, and the position directly after it.
struct VariableChange {
  MarkedChange kind;  // not kNone
  llvm::Value* operand;
  llvm::Value* variable;
  Position position;
};

// The variables of an activation; null: it has none.
struct Frame {
  llvm::AllocaInst* array;
  llvm::AllocaInst* index;
  llvm::AllocaInst* sum;
};

// Emits inline assembly. Where this process generates the code, the assembly has no text, which
// the assembler would have to parse, but metadata that position_printer.cc reads. Elsewhere it has
// text, which any compiler understands.
class PositionCode {
 public:
  // `key`: of the record that positions belong to. `first_id`: what their nodes are counted from.
  // `has_text`: another process generates the code.
  PositionCode(const llvm::Module& module, std::uint64_t key, std::uint64_t first_id,
               bool has_text);

  // A position without instructions.
  void insert(llvm::IRBuilder<>& builder, const Position& position) const;

  // Positions and instructions that change variables, as one piece of assembly: the scheduler could
  // otherwise place instructions between a change and its position, where they would disagree.
  // `start`: a position before the changes.
  llvm::CallInst* insert(llvm::IRBuilder<>& builder, const std::optional<Position>& start,
                         llvm::ArrayRef<VariableChange> changes) const;

  // The record of where the variables are, for readers without DWARF, as the assembler prints them.
  void insert_frame_record(llvm::IRBuilder<>& builder, const Frame& frame) const;

  // Assembly without text that differs from other nodes' assembly.
  void insert_difference(llvm::IRBuilder<>& builder, std::uint32_t node) const;

 private:
  struct Operands;
  static llvm::CallInst* insert_assembly(llvm::IRBuilder<>& builder, const std::string& text,
                                         const Operands& operands);
  [[nodiscard]] std::string bytes_of(std::uint64_t value, unsigned size) const;
  [[nodiscard]] std::string text_of(const Position& position) const;
  [[nodiscard]] std::uint64_t mark_of(const Position& position, MarkedChange change) const;

  std::uint64_t key_;
  std::uint64_t first_id_;
  std::string address_;  // a directive
  bool is_little_endian_;
  bool has_text_;
};

// Positions in a function without path tracing: the start of each block, by its index, with the key
// of the function's flow record. For code that this process generates.
void insert_block_positions(llvm::ArrayRef<llvm::BasicBlock*> blocks, std::uint64_t key);

}  // namespace telltale::instrument
