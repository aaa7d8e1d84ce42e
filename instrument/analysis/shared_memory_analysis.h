// Which lvalues may designate memory that several threads access: what the concurrency schemes call
// shared and mutable.
#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <llvm/ADT/DenseSet.h>

#include <vector>

namespace telltale::instrument {

// For one function. Shared are globals that are not thread-local, objects reached through pointers
// or references, and locals whose address escapes or that a lambda captures by reference.
class SharedMemoryAnalysis {
 public:
  // Analyses the function as written: call before marks are inserted in it.
  explicit SharedMemoryAnalysis(const clang::FunctionDecl& function);
  // The same for the initialiser of a global, which may be null.
  explicit SharedMemoryAnalysis(const clang::Expr* initialiser) { visit(initialiser, false); }

  // The variables whose address escapes, or that a lambda captures by reference: locals, and
  // globals that the function names.
  [[nodiscard]] const llvm::DenseSet<const clang::VarDecl*>& address_taken() const {
    return address_taken_;
  }

  // Is it shared, of a discrete type (integer, enumeration, pointer), not a bit-field and not
  // const?
  [[nodiscard]] bool is_shared(const clang::Expr& lvalue, const clang::ASTContext& context) const;
  [[nodiscard]] bool is_shared(const clang::VarDecl& local, const clang::ASTContext& context) const;
  // Does an assignment access such memory? Assignments inside it, and what it calls, do not count.
  // `statement` is the assignment, or the initialiser of a local.
  [[nodiscard]] bool is_accessed_by(const clang::Stmt& statement,
                                    const clang::ASTContext& context) const;

  // OpenMP: marks variables as private from here on. Returns the argument for pop_private(), which
  // ends that.
  std::size_t push_private(const std::vector<const clang::VarDecl*>& variables);
  void pop_private(std::size_t before) { private_.resize(before); }

 private:
  // `lvalue_only`: the lvalue is read, written or measured, but its address does not escape.
  void visit(const clang::Stmt* statement, bool lvalue_only);

  [[nodiscard]] bool is_shared_object(const clang::Expr& lvalue) const;
  [[nodiscard]] bool is_shared_variable(const clang::DeclRefExpr& name) const;
  [[nodiscard]] bool is_private(const clang::VarDecl& variable) const;

  llvm::DenseSet<const clang::VarDecl*> address_taken_;
  std::vector<const clang::VarDecl*> private_;
};

}  // namespace telltale::instrument
