// The operands of -fsampler-dataflow (docs/formats/sampler.md): variables, members, numbers.
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

// Is it an integer, an enumeration or an address? Only those are followed.
bool is_discrete(clang::QualType type, const clang::ASTContext& context);
// Strips parentheses and temporaries.
const clang::Expr& strip_temporaries(const clang::Expr& expr);
// Strips casts, too, down to what is loaded.
const clang::Expr& strip_casts(const clang::Expr& expr);

// `name` returns a unique name for a variable.
class DataflowOperands {
 public:
  using Naming = std::function<std::string(const clang::VarDecl&)>;
  // `fields`: follows members of structures, too.
  DataflowOperands(const clang::ASTContext& context, bool fields, Naming name)
      : context_(context), fields_(fields), name_(std::move(name)) {}

  // One operand for each discrete value in a variable: itself, or the members of a structure.
  [[nodiscard]] Operands of_variable(const clang::VarDecl& variable) const;
  // The same for an lvalue expression, and for a value.
  [[nodiscard]] Operands of_place(const clang::Expr& lvalue) const;
  [[nodiscard]] Operands of_value(const clang::Expr& expr) const;
  // The operand, if it is a variable or a number.
  [[nodiscard]] std::optional<std::string> simple(const clang::Expr& expr) const;
  // Appends the initialisation of a variable, member or element: pairs of an lvalue and its value.
  void initialised(const std::string& name, bool direct, clang::QualType type,
                   const clang::Expr& init, Operands& pairs) const;

 private:
  void spread(clang::QualType type, const std::string& name, bool direct, Operands& out) const;
  // A variable, or with `fields` a member of a structure.
  [[nodiscard]] std::optional<std::string> path_of(const clang::Expr& place) const;
  [[nodiscard]] std::optional<std::string> number_of(const clang::Expr& expr) const;

  const clang::ASTContext& context_;
  bool fields_;
  Naming name_;
};

}  // namespace telltale::instrument
