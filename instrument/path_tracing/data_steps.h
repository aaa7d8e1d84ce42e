// Steps of a function: what of its code a record of data flow tells apart (docs/formats/csi.md,
// "Data").
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "path_tracing/sampler_code.h"

namespace telltale::instrument {

// A call of a function; null for other instructions, intrinsics and inline assembly.
const llvm::CallBase* as_call(const llvm::Instruction& instruction);

// Intrinsics and fences, which say something about memory, but do not change it.
bool is_only_a_note(const llvm::Instruction& instruction);

// Which instructions are steps. Others are part of the step that uses their results, on the same
// line. Of the Sampler's code, only calls and branches are steps: readers count the calls of a
// block, and expect that its last step is its branch.
class DataSteps {
 public:
  DataSteps(const llvm::Function& function, const std::vector<const llvm::BasicBlock*>& blocks);

  // The steps of a block, in their order.
  [[nodiscard]] const std::vector<const llvm::Instruction*>& of(std::size_t block) const {
    return steps_[block];
  }
  [[nodiscard]] bool is_step(const llvm::Instruction& instruction) const {
    return are_steps_.contains(&instruction);
  }
  [[nodiscard]] bool is_of_sampler(const llvm::Instruction& instruction) const {
    return sampler_.has(instruction);
  }
  // The number of a parameter, or of a step's result that other steps use. Parameters come first,
  // then results in the order of steps.
  [[nodiscard]] std::optional<std::uint32_t> value(const llvm::Value& value) const;

 private:
  struct Use {
    const llvm::Instruction* step = nullptr;
    unsigned writes = 0;  // how many instructions of the block write memory before it
  };
  void choose(const llvm::BasicBlock& block);
  [[nodiscard]] bool is_fixed(const llvm::Instruction& instruction) const;

  SamplerCode sampler_;
  llvm::DenseSet<const llvm::Instruction*> are_steps_;
  llvm::DenseSet<const llvm::Instruction*> fixed_;  // computed from constants and addresses alone
  std::vector<std::vector<const llvm::Instruction*>> steps_;
  llvm::DenseMap<const llvm::Value*, std::uint32_t> values_;
};

}  // namespace telltale::instrument
