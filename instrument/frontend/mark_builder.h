// Builds the expressions that the AST side plants. Everything made here belongs to the ASTContext.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <vector>

#include "translation_unit.h"

namespace telltale::instrument {

class MarkBuilder {
 public:
  explicit MarkBuilder(clang::ASTContext& context) : context_(context) {}

  // `value`, a scalar that is no lvalue, handed on by a call that names `mark`; then the addresses
  // of `variables`.
  clang::Expr* forward(unsigned mark, clang::Expr* value,
                       const std::vector<clang::VarDecl*>& variables = {});
  // A call for its own sake.
  clang::Expr* marker(unsigned mark, clang::SourceLocation location);

  clang::Expr* convert(clang::Expr* value, clang::QualType to);
  // The value of an lvalue.
  clang::Expr* load(clang::Expr* lvalue);
  clang::Expr* reference(clang::VarDecl* variable, clang::SourceLocation location);
  clang::Expr* assign(clang::Expr* lvalue, clang::Expr* value);
  clang::Expr* binary(clang::BinaryOperatorKind operation, clang::Expr* left, clang::Expr* right,
                      clang::QualType type);
  clang::Expr* literal_one(clang::SourceLocation location);
  clang::Expr* address_of(clang::Expr* lvalue, clang::QualType pointer);
  // The lvalue of type `type` that a pointer leads to.
  clang::Expr* dereference(clang::Expr* pointer, clang::QualType type);
  // A name for an expression that is evaluated once; to be listed in in_order().
  clang::OpaqueValueExpr* evaluate_once(clang::Expr* expr);
  // Evaluates `steps` one after another; the value is that of number `result`. `instead_of` is what
  // all this stands for.
  clang::Expr* sequence(clang::Expr* instead_of, llvm::ArrayRef<clang::Expr*> steps,
                        unsigned result);

 private:
  clang::FunctionDecl* function_for(clang::QualType type);

  clang::ASTContext& context_;
  llvm::DenseMap<const clang::Type*, clang::FunctionDecl*> functions_;
};

}  // namespace telltale::instrument
