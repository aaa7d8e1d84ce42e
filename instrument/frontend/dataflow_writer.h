// Writes the data flow of a unit for -fsampler-dataflow (docs/formats/sampler.md).
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SetVector.h>

#include <string>
#include <vector>

#include "options.h"

namespace telltale::instrument {

class DataflowWriter {
 public:
  DataflowWriter(const clang::ASTContext& context, const Options& options)
      : context_(context), options_(options) {}

  // Adds a function with a body, once. Call before marks are inserted in it. `globals` are those
  // declared so far.
  void add(const clang::FunctionDecl& function, const std::vector<clang::VarDecl*>& globals);
  // The text of .debug_sampler_dataflow after the unit's signature. `globals` are all of the file.
  [[nodiscard]] std::string text(const std::vector<clang::VarDecl*>& globals) const;

 private:
  const clang::ASTContext& context_;
  const Options& options_;
  llvm::DenseSet<const clang::FunctionDecl*> done_;
  llvm::DenseSet<const clang::VarDecl*> address_taken_;  // globals, in any function
  // also static locals and static members
  llvm::SetVector<const clang::VarDecl*> named_;
  std::string functions_;
};

}  // namespace telltale::instrument
