// Which instructions of a function are the Sampler's: they are no part of the source, and the
// records of data flow leave them out (docs/formats/csi.md, "Data").
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

namespace telltale::instrument {

// Whether it calls the Sampler's runtime, a function that the Sampler made, or its assembly. Such
// code neither writes variables of the program nor keeps their addresses.
bool is_sampler_call(const llvm::CallBase& call);

// Whether the Sampler has inserted code into the module.
bool has_sampler_code(const llvm::Module& module);

class SamplerCode {
 public:
  explicit SamplerCode(const llvm::Function& function);
  // Its counters and countdowns, what is computed from them, and what nothing else uses.
  [[nodiscard]] bool has(const llvm::Instruction& instruction) const {
    return is_all_ || instructions_.contains(&instruction);
  }

 private:
  [[nodiscard]] bool is_of_sampler(const llvm::Value& value) const;
  [[nodiscard]] bool is_place_of_sampler(const llvm::Value& pointer) const;
  [[nodiscard]] bool follows(const llvm::Instruction& instruction) const;
  void follow(const llvm::Function& function);
  void add_unneeded(const llvm::Function& function);

  bool is_all_ = false;
  llvm::DenseSet<const llvm::Instruction*> instructions_;
  llvm::DenseSet<const llvm::Value*> locals_;  // variables of the Sampler
};

}  // namespace telltale::instrument
