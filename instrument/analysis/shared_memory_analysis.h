// Which places in memory several threads may look at: what the concurrency schemes call shared and
// mutable.
#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <llvm/ADT/DenseSet.h>

#include <vector>

namespace telltale::instrument {

// Of one function. Shared are globals that are not each thread's own, what a pointer or reference
// leads to, and locals whose address is taken or that a lambda holds by reference.
class SharedMemoryAnalysis {
 public:
  // Looks at the function as it is now; call before anything is planted in it.
  explicit SharedMemoryAnalysis(const clang::FunctionDecl& function);
  // The same of an initialiser of a global, which may be null.
  explicit SharedMemoryAnalysis(const clang::Expr* initialiser) { visit(initialiser, false); }

  // Variables whose address goes somewhere, or that a lambda holds by reference: locals, and
  // globals that the function names.
  [[nodiscard]] const llvm::DenseSet<const clang::VarDecl*>& address_taken() const {
    return address_taken_;
  }

  // A place of a discrete type (integer, enumeration, pointer), no bit-field, not const.
  [[nodiscard]] bool is_shared(const clang::Expr& lvalue, const clang::ASTContext& context) const;
  [[nodiscard]] bool is_shared(const clang::VarDecl& local, const clang::ASTContext& context) const;
  // Does an assignment, without those inside it and without what it calls, touch such a place?
  // `statement` is the assignment, or what a local is initialised with.
  [[nodiscard]] bool is_accessed_by(const clang::Stmt& statement,
                                    const clang::ASTContext& context) const;

  // Variables of which each thread has its own from here on, in OpenMP regions; add_own() gives
  // what drop_own() takes to forget them.
  std::size_t push_private(const std::vector<const clang::VarDecl*>& variables);
  void pop_private(std::size_t before) { private_.resize(before); }

 private:
  // `named_only`: the place is read, written or measured where it stands, and its address goes
  // nowhere.
  void visit(const clang::Stmt* statement, bool lvalue_only);

  [[nodiscard]] bool is_shared_object(const clang::Expr& lvalue) const;
  [[nodiscard]] bool is_shared_variable(const clang::DeclRefExpr& name) const;
  [[nodiscard]] bool is_private(const clang::VarDecl& variable) const;

  llvm::DenseSet<const clang::VarDecl*> address_taken_;
  std::vector<const clang::VarDecl*> private_;
};

}  // namespace telltale::instrument
