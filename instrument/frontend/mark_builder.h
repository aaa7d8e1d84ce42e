// Builds the expressions that SiteInserter inserts. The ASTContext owns them.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <vector>

#include "translation_unit.h"

namespace telltale::instrument {

class MarkBuilder {
 public:
  explicit MarkBuilder(clang::ASTContext& context) : context_(context) {}

  // A call that returns `value`, a scalar prvalue; it names `mark` and passes the addresses of
  // `variables`.
  clang::Expr* forward(unsigned mark, clang::Expr* value,
                       const std::vector<clang::VarDecl*>& variables = {});
  // A call without a value.
  clang::Expr* marker(unsigned mark, clang::SourceLocation location);

  clang::Expr* convert(clang::Expr* value, clang::QualType to);
  // An lvalue-to-rvalue conversion.
  clang::Expr* load(clang::Expr* lvalue);
  clang::Expr* reference(clang::VarDecl* variable, clang::SourceLocation location);
  clang::Expr* assign(clang::Expr* lvalue, clang::Expr* value);
  clang::Expr* binary(clang::BinaryOperatorKind operation, clang::Expr* left, clang::Expr* right,
                      clang::QualType type);
  clang::Expr* literal_one(clang::SourceLocation location);
  clang::Expr* address_of(clang::Expr* lvalue, clang::QualType pointer);
  // The lvalue that a pointer points to.
  clang::Expr* dereference(clang::Expr* pointer, clang::QualType type);
  // Wraps an expression so that it is evaluated once however often it is used. It must be a step of
  // sequence().
  clang::OpaqueValueExpr* evaluate_once(clang::Expr* expr);
  // Evaluates `steps` in order; the result is that of step `result`. `instead_of` is the expression
  // that this replaces.
  clang::Expr* sequence(clang::Expr* instead_of, llvm::ArrayRef<clang::Expr*> steps,
                        unsigned result);

 private:
  clang::FunctionDecl* function_for(clang::QualType type);

  clang::ASTContext& context_;
  llvm::DenseMap<const clang::Type*, clang::FunctionDecl*> functions_;
};

}  // namespace telltale::instrument
