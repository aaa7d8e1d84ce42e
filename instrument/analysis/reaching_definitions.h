// Which local variables are initialised at an assignment: reaching definitions over clang's CFG.
#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/Stmt.h>
#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

namespace telltale::instrument {

enum class Reach : unsigned char { kNothing, kMaybe, kAlways };  // is the variable defined?

class ReachingDefinitions {
 public:
  // Analyses the function as written: call before marks are inserted in it.
  explicit ReachingDefinitions(const clang::FunctionDecl& function);

  // `place` is an assignment, an increment, or a VarDecl with an initialiser. The result is for the
  // moment before its store.
  [[nodiscard]] Reach reach(const clang::VarDecl& local, const void* place) const;

 private:
  struct State {
    llvm::BitVector undefined;
    llvm::BitVector defined;
  };
  void collect_locals(const clang::Stmt* statement);
  void transfer(const clang::Stmt* statement, State& state, bool record);
  void define(const clang::VarDecl* variable, State& state) const;

  llvm::DenseMap<const clang::VarDecl*, unsigned> numbers_;
  llvm::DenseSet<const clang::VarDecl*> address_taken_;
  llvm::DenseMap<const void*, State> before_;
};

}  // namespace telltale::instrument
