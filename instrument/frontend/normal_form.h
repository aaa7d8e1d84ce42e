// -fsampler-normal-form: expressions as the original's front end rewrote them before it looked for
// sites, so that tables of both can be laid side by side (docs/formats/sampler.md).
#pragma once

#include <clang/AST/Expr.h>
#include <llvm/ADT/DenseMap.h>

#include <string>
#include <vector>

namespace telltale::instrument {

// Of one function: temporaries and locals have names of their own in it.
class NormalForm {
 public:
  // `globals` are those that the file has declared so far.
  NormalForm(const clang::FunctionDecl& function, const std::vector<clang::VarDecl*>& globals);

  // What is left of an expression when its side effects have been moved out: `tmp` for a call.
  std::string text(const clang::Expr& expr);
  // A call, assignment or increment that is a statement of its own.
  std::string statement(const clang::Expr& expr);
  // What an `if`, a `switch` or a loop asks, whole.
  std::string condition(const clang::Expr& expr);
  std::string callee(const clang::Expr& expr);
  // A local that is not the first of its name in the function gets a number.
  std::string name(const clang::VarDecl& variable) const;
  // Those that it declares, in the order of the text.
  [[nodiscard]] const std::vector<const clang::VarDecl*>& locals() const { return locals_; }

 private:
  struct Printed {
    std::string text;
    int binds = 0;  // as operators do: less binds tighter
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
