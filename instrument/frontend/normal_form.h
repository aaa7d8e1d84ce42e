// -fsampler-normal-form: prints expressions as the original's front end normalised them, so that
// its tables can be compared with ours (docs/formats/sampler.md).
#pragma once

#include <clang/AST/Expr.h>
#include <llvm/ADT/DenseMap.h>

#include <string>
#include <vector>

namespace telltale::instrument {

// For one function, which numbers its temporaries and locals.
class NormalForm {
 public:
  // `globals` are those declared so far.
  NormalForm(const clang::FunctionDecl& function, const std::vector<clang::VarDecl*>& globals);

  // An expression after its side effects are moved out: `tmp` for a call.
  std::string text(const clang::Expr& expr);
  // A call, assignment or increment as a statement.
  std::string statement(const clang::Expr& expr);
  // The condition of an `if`, `switch` or loop.
  std::string condition(const clang::Expr& expr);
  std::string callee(const clang::Expr& expr);
  // A local's name, with a number if it is not the first of that name in the function.
  std::string name(const clang::VarDecl& variable) const;
  // The function's locals in source order.
  [[nodiscard]] const std::vector<const clang::VarDecl*>& locals() const { return locals_; }

 private:
  struct Printed {
    std::string text;
    int binds = 0;  // precedence; lower binds tighter
  };
  Printed print(const clang::Expr& expr);
  Printed print_cast(const clang::CastExpr& cast);
  Printed print_unary(const clang::UnaryOperator& unary);
  Printed print_binary(const clang::BinaryOperator& binary);
  Printed print_element(const clang::ArraySubscriptExpr& element);
  Printed print_member(const clang::MemberExpr& member);
  std::string operand(const clang::Expr& expr, int binds);
  Printed converted(clang::QualType type, const clang::Expr& expr);
  Printed as_written(const clang::Expr& expr) const;
  Printed temporary(const clang::Expr& expr);
  std::string type_text(clang::QualType type) const;

  const clang::ASTContext& context_;
  llvm::DenseMap<const clang::VarDecl*, unsigned> repeats_;
  std::vector<const clang::VarDecl*> locals_;
  llvm::DenseMap<const clang::Expr*, unsigned> temporaries_;
};

}  // namespace telltale::instrument
