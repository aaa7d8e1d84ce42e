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
struct InserterState {
  clang::ASTContext& context;
  TranslationUnit& unit;
  MarkBuilder builder;
  std::vector<clang::VarDecl*> globals;        // of the file so far, in order
  std::vector<clang::FunctionDecl*> deferred;  // lambdas met on the way: to be planted at the end
  llvm::DenseSet<const clang::Stmt*> visited;  // instantiations of a template share statements
  // Whose default arguments, and whose initialisers in the class, are planted.
  llvm::DenseSet<const clang::ValueDecl*> instrumented_defaults;
  bool at_end_of_unit = false;          // of the unit: no constant expression comes any more
  std::set<std::int64_t> constants{0};  // -fcompare-constants: all of the unit

  InserterState(clang::ASTContext& c, TranslationUnit& u) : context(c), unit(u), builder(c) {}
};

class SiteInserter {
 public:
  SiteInserter(InserterState& state, clang::FunctionDecl& function);
  void run();

 private:
  void instrument_member_initialisers(clang::CXXConstructorDecl& constructor);
  enum class Use : unsigned char { kValue, kDiscarded };

  // What stands on the left of an assignment, if the options want it.
  struct AssignedLvalue {
    const char* host = "";    // local, global, mem
    const char* offset = "";  // direct, field, index
    clang::VarDecl* variable = nullptr;
    std::string text;
    clang::QualType type;
  };

  // What is assigned to, as the schemes see it.
  struct Target {
    std::optional<AssignedLvalue> left;
    std::optional<std::string> shared;
  };

  // Statements.
  void instrument_statement(clang::Stmt*& slot);
  void instrument_substatements(clang::Stmt*& slot);
  void instrument_compound(clang::Stmt*& slot, Use last);
  void instrument_array_bounds(clang::DeclStmt& declaration);
  void instrument_declarations(clang::DeclStmt& statement);
  void instrument_head_declaration(clang::DeclStmt& declaration);
  void instrument_range_for(clang::CXXForRangeStmt& loop);
  // A directive and what it is about; its statement; the code that runs in it.
  void instrument_openmp(clang::OMPExecutableDirective& directive);
  void instrument_region_statement(clang::OMPExecutableDirective& directive, clang::Stmt*& slot);
  void instrument_region_body(clang::Stmt*& slot);
  clang::Stmt* in_compound(const std::vector<clang::Stmt*>& statements, clang::SourceLocation begin,
                           clang::SourceLocation end);
  clang::Expr* coverage_mark(const clang::Stmt& statement);
  // -fsampler-reset-at-points: a mark that goes before such a statement, or null.
  clang::Expr* reset_mark(const clang::Stmt& statement);
  void head(clang::Stmt& parent, clang::Expr* condition, bool counts);
  void instrument_conditional(clang::Stmt& parent, const clang::Expr* condition,
                              const clang::Expr* increment);

  // Expressions.
  void instrument_expression(clang::Stmt*& slot, Use use);
  void instrument_children(clang::Expr& expr, Use use);
  void instrument_condition(clang::Stmt*& slot);
  void instrument_call(clang::Stmt*& slot);
  void instrument_default_argument(clang::CXXDefaultArgExpr& expr);
  void instrument_default_member(clang::Stmt*& slot);
  // An expression that is no part of the function around it.
  void instrument_detached(clang::Stmt*& slot);
  void instrument_coroutine_return(clang::CoreturnStmt& statement);
  void insert_unref_site(clang::CallExpr& expr);
  static bool is_opaque(const clang::Stmt& statement);

  // Assignments.
  std::optional<AssignedLvalue> assigned_lvalue(const clang::Expr& expr) const;
  std::optional<AssignedLvalue> variable_lvalue(clang::VarDecl& variable) const;
  void instrument_assignment(clang::BinaryOperator& expr);
  void lower_compound_assignment(clang::Stmt*& slot, const Target& target);
  void lower_increment(clang::Stmt*& slot, const Target& target, Use use);
  [[nodiscard]] Target store_target(const clang::Expr& lvalue) const;
  clang::Expr* add_store_marks(clang::Expr* value, const Target& target, const void* place);
  clang::Expr* load_with_mark(clang::Expr* lvalue, const Target& target);
  // `value` with the marks of all schemes that look at assignments; `place` as Definitions wants
  // it.
  clang::Expr* add_assignment_marks(clang::Expr* value, const AssignedLvalue& left,
                                    const void* place);
  clang::Expr* add_pair_mark(clang::Expr* value, const AssignedLvalue& left, const void* place);
  void add_variables(const AssignedLvalue& left, const void* place, Mark& mark,
                     std::vector<clang::VarDecl*>& variables);
  void add_pair(const AssignedLvalue& left, const std::string& right, const char* kind, Mark& mark);
  void add_constants(const AssignedLvalue& left, Mark& mark);

  // Accesses to shared memory: the place as written, if a scheme looks at it; `value` with the
  // marks of those schemes, which is what was just read there or what will be stored.
  [[nodiscard]] std::optional<std::string> shared_lvalue_text(const clang::Expr& lvalue) const;
  clang::Expr* add_access_marks(clang::Expr* value, const std::string& lvalue, bool is_write);
  // The same for yields: an assignment, and the assignment with its mark behind it.
  [[nodiscard]] std::optional<std::string> yield_site_text(const clang::Expr& assignment) const;
  clang::Expr* add_yield_mark(clang::Expr* assignment, const std::string& what);

  void set_location(clang::SourceLocation location);
  [[nodiscard]] bool is_enabled(Scheme scheme) const {
    return location_enabled_ && state_.unit.options.has(scheme);
  }
  unsigned add_site(Scheme scheme, std::vector<std::string> fields, clang::QualType type);
  unsigned add_mark(Scheme scheme, std::vector<std::string> fields, clang::QualType type);
  unsigned finish_mark(Mark mark);
  [[nodiscard]] std::string local_name(const clang::VarDecl& variable) const;
  [[nodiscard]] std::string text(const clang::Expr& expr) const {
    return normal_ ? normal_->text(expr) : text_of(expr, state_.context);
  }
  [[nodiscard]] std::string condition_text(const clang::Expr& expr) const {
    return normal_ ? normal_->condition(expr) : text_of(expr, state_.context);
  }
  [[nodiscard]] std::string coverage_text(const clang::Stmt& statement) const;

  InserterState& state_;
  clang::FunctionDecl& function_;
  MarkBuilder& builder_;
  int function_number_ = -1;  // index into Unit::functions
  int number_ = -1;           // the same, or of the OpenMP region that this is in
  SourcePlace location_;
  bool location_enabled_ = true;
  bool is_detached_ = false;            // of OpenMP: formals are not named
  std::vector<clang::VarDecl*> scope_;  // locals that can be named here
  std::optional<ReachingDefinitions> reaching_definitions_;
  std::optional<SharedMemoryAnalysis> shared_memory_;
  mutable std::optional<NormalForm> normal_;  // knows its temporaries as it goes
};

// What -fcompare-constants compares integers with: all marks are there, and all constants.
void add_constant_sites(InserterState& state);

// What a scheme can look at: discrete (integers, enumerations, pointers) and floating types; kNone
// for all else.
ValueKind value_kind(clang::QualType type, const clang::ASTContext& context);

}  // namespace telltale::instrument
