// Walks a function's syntax tree and plants marks where the schemes want to look. Values are handed
// through marks, so the program computes what it did.
#pragma once

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Basic/SourceManager.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/reaching_definitions.h"
#include "analysis/shared_memory_analysis.h"
#include "frontend/mark_builder.h"
#include "frontend/normal_form.h"
#include "frontend/source_text.h"
#include "translation_unit.h"

namespace telltale::instrument {

// What outlives a function.
struct Planting {
  clang::ASTContext& context;
  Unit& unit;
  MarkBuilder builder;
  std::vector<clang::VarDecl*> globals;     // of the file so far, in order
  std::vector<clang::FunctionDecl*> later;  // lambdas met on the way: to be planted at the end
  llvm::DenseSet<const clang::Stmt*> been_inside;  // instantiations of a template share statements
  // Whose default arguments, and whose initialisers in the class, are planted.
  llvm::DenseSet<const clang::ValueDecl*> defaults;
  bool is_end = false;                  // of the unit: no constant expression comes any more
  std::set<std::int64_t> constants{0};  // -fcompare-constants: all of the unit

  Planting(clang::ASTContext& c, Unit& u) : context(c), unit(u), builder(c) {}
};

class Planter {
 public:
  Planter(Planting& planting, clang::FunctionDecl& function);
  void plant();

 private:
  void member_initialisers(clang::CXXConstructorDecl& constructor);
  enum class Use : unsigned char { kValue, kDiscarded };

  // What stands on the left of an assignment, if the options want it.
  struct Left {
    const char* host = "";    // local, global, mem
    const char* offset = "";  // direct, field, index
    clang::VarDecl* variable = nullptr;
    std::string text;
    clang::QualType type;
  };

  // What is assigned to, as the schemes see it.
  struct Target {
    std::optional<Left> left;
    std::optional<std::string> shared;
  };

  // Statements.
  void statement(clang::Stmt*& slot);
  void visit_statement(clang::Stmt*& slot);
  void compound(clang::Stmt*& slot, Use last);
  void array_sizes(clang::DeclStmt& declaration);
  void declarations(clang::DeclStmt& statement);
  void head_declaration(clang::DeclStmt& declaration);
  void range_for(clang::CXXForRangeStmt& loop);
  // A directive and what it is about; its statement; the code that runs in it.
  void openmp(clang::OMPExecutableDirective& directive);
  void region_statement(clang::OMPExecutableDirective& directive, clang::Stmt*& slot);
  void region_body(clang::Stmt*& slot);
  clang::Stmt* in_compound(const std::vector<clang::Stmt*>& statements, clang::SourceLocation begin,
                           clang::SourceLocation end);
  clang::Expr* coverage_mark(const clang::Stmt& statement);
  // -fsampler-reset-at-points: a mark that goes before such a statement, or null.
  clang::Expr* reset_mark(const clang::Stmt& statement);
  void head(clang::Stmt& parent, clang::Expr* condition, bool counts);
  void parts(clang::Stmt& parent, const clang::Expr* condition, const clang::Expr* increment);

  // Expressions.
  void expression(clang::Stmt*& slot, Use use);
  void expression_parts(clang::Expr& expr, Use use);
  void condition(clang::Stmt*& slot);
  void call(clang::Stmt*& slot);
  void default_argument(clang::CXXDefaultArgExpr& expr);
  void default_member(clang::Stmt*& slot);
  // An expression that is no part of the function around it.
  void elsewhere(clang::Stmt*& slot);
  void coroutine_return(clang::CoreturnStmt& statement);
  void object_release(clang::CallExpr& expr);
  static bool is_opaque(const clang::Stmt& statement);

  // Assignments.
  std::optional<Left> left_side(const clang::Expr& expr) const;
  std::optional<Left> variable_as_left(clang::VarDecl& variable) const;
  void assignment(clang::BinaryOperator& expr);
  void compound_assignment(clang::Stmt*& slot, const Target& target);
  void increment(clang::Stmt*& slot, const Target& target, Use use);
  [[nodiscard]] Target target_of(const clang::Expr& lvalue) const;
  clang::Expr* stored(clang::Expr* value, const Target& target, const void* place);
  clang::Expr* loaded(clang::Expr* lvalue, const Target& target);
  // `value` with the marks of all schemes that look at assignments; `place` as Definitions wants
  // it.
  clang::Expr* observed(clang::Expr* value, const Left& left, const void* place);
  clang::Expr* compared(clang::Expr* value, const Left& left, const void* place);
  void add_variables(const Left& left, const void* place, Mark& mark,
                     std::vector<clang::VarDecl*>& variables);
  void add_pair(const Left& left, const std::string& right, const char* kind, Mark& mark);
  void add_constants(const Left& left, Mark& mark);

  // Accesses to shared memory: the place as written, if a scheme looks at it; `value` with the
  // marks of those schemes, which is what was just read there or what will be stored.
  [[nodiscard]] std::optional<std::string> shared_text(const clang::Expr& lvalue) const;
  clang::Expr* accessed(clang::Expr* value, const std::string& lvalue, bool is_write);
  // The same for yields: an assignment, and the assignment with its mark behind it.
  [[nodiscard]] std::optional<std::string> yielding_text(const clang::Expr& assignment) const;
  clang::Expr* yielding(clang::Expr* assignment, const std::string& what);

  void at(clang::SourceLocation location);
  [[nodiscard]] bool on(Scheme scheme) const {
    return wanted_here_ && planting_.unit.options.has(scheme);
  }
  unsigned add_site(Scheme scheme, std::vector<std::string> fields, clang::QualType type);
  unsigned add_mark(Scheme scheme, std::vector<std::string> fields, clang::QualType type);
  unsigned finish_mark(Mark mark);
  [[nodiscard]] std::string local_name(const clang::VarDecl& variable) const;
  [[nodiscard]] std::string text(const clang::Expr& expr) const {
    return normal_ ? normal_->text(expr) : text_of(expr, planting_.context);
  }
  [[nodiscard]] std::string condition_text(const clang::Expr& expr) const {
    return normal_ ? normal_->condition(expr) : text_of(expr, planting_.context);
  }
  [[nodiscard]] std::string coverage_text(const clang::Stmt& statement) const;

  Planting& planting_;
  clang::FunctionDecl& function_;
  MarkBuilder& builder_;
  int function_number_ = -1;  // index into Unit::functions
  int number_ = -1;           // the same, or of the OpenMP region that this is in
  Place place_;
  bool wanted_here_ = true;
  bool inside_region_ = false;          // of OpenMP: formals are not named
  std::vector<clang::VarDecl*> scope_;  // locals that can be named here
  std::optional<Definitions> definitions_;
  std::optional<SharedPlaces> shared_;
  mutable std::optional<NormalForm> normal_;  // knows its temporaries as it goes
};

// What -fcompare-constants compares integers with: all marks are there, and all constants.
void add_all_constants(Planting& planting);

// What a scheme can look at: discrete (integers, enumerations, pointers) and floating types; kNone
// for all else.
ValueKind value_kind(clang::QualType type, const clang::ASTContext& context);

}  // namespace telltale::instrument
