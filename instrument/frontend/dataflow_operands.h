// What stands in the operands of -fsampler-dataflow (docs/formats/sampler.md): variables, members,
// numbers.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telltale::instrument {

using Operands = std::vector<std::string>;

inline constexpr const char* kAnything = "*";
inline constexpr const char* kElement = "@";

// Is it followed: a number that is no floating-point one, or an address?
bool is_discrete(clang::QualType type, const clang::ASTContext& context);
// Without parentheses and temporaries.
const clang::Expr& strip_temporaries(const clang::Expr& expr);
// Through casts, too, down to what is read: casts are transparent.
const clang::Expr& strip_casts(const clang::Expr& expr);

// `name` tells variables apart.
class DataflowOperands {
 public:
  using Naming = std::function<std::string(const clang::VarDecl&)>;
  // `fields`: members of structures are followed, too.
  DataflowOperands(const clang::ASTContext& context, bool fields, Naming name)
      : context_(context), fields_(fields), name_(std::move(name)) {}

  // One operand for each discrete number in a variable: itself, or members of a structure.
  [[nodiscard]] Operands of_variable(const clang::VarDecl& variable) const;
  // The same for what an expression that can be written to names, and for what one gives.
  [[nodiscard]] Operands of_place(const clang::Expr& lvalue) const;
  [[nodiscard]] Operands of_value(const clang::Expr& expr) const;
  // A variable or a number, if that is all.
  [[nodiscard]] std::optional<std::string> simple(const clang::Expr& expr) const;
  // Appends what a variable, a member of a structure or an element is initialised with: places,
  // each followed by its value.
  void initialised(const std::string& name, bool direct, clang::QualType type,
                   const clang::Expr& init, Operands& pairs) const;

 private:
  void spread(clang::QualType type, const std::string& name, bool direct, Operands& out) const;
  // A variable, or with fields a member of a structure.
  [[nodiscard]] std::optional<std::string> path_of(const clang::Expr& place) const;
  [[nodiscard]] std::optional<std::string> number_of(const clang::Expr& expr) const;

  const clang::ASTContext& context_;
  bool fields_;
  Naming name_;
};

}  // namespace telltale::instrument
