// Inserts marks into the syntax tree of a function: this is where the schemes choose their sites.
// An expression `e` with a site becomes `__telltale_mark_N(number, e, ...)`, which returns `e`, so
// that the program computes what it did.
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
#include "analysis/value_kind.h"
#include "frontend/mark_builder.h"
#include "frontend/normal_form.h"
#include "frontend/source_text.h"
#include "translation_unit.h"

namespace telltale::instrument {

// State of a translation unit that outlives one function.
struct InserterState {
  clang::ASTContext& context;
  TranslationUnit& unit;
  MarkBuilder builder;
  std::vector<clang::VarDecl*> globals;  // declared so far, in order
  // Functions to instrument at the end of the unit; lambdas are appended as they are found.
  std::vector<clang::FunctionDecl*> deferred;
  // Statements whose children have marks. Instantiations of a template share statements.
  llvm::DenseSet<const clang::Stmt*> visited;
  // Parameters and members whose default argument or initialiser has marks.
  llvm::DenseSet<const clang::ValueDecl*> instrumented_defaults;
  bool at_end_of_unit = false;          // no constant expressions follow
  std::set<std::int64_t> constants{0};  // -fcompare-constants: all of the unit so far

  InserterState(clang::ASTContext& c, TranslationUnit& u) : context(c), unit(u), builder(c) {}
};

// Instruments one function. Throughout, a `slot` is the place of a statement in its parent: a
// replacement is written to it.
class SiteInserter {
 public:
  SiteInserter(InserterState& state, clang::FunctionDecl& function);
  void run();

 private:
  class StatementVisitor;
  class ExpressionVisitor;
  enum class Use : unsigned char { kValue, kDiscarded };  // of an expression's result

  // The left side of an assignment as the site table describes it.
  struct AssignedLvalue {
    const char* host = "";    // local, global, mem
    const char* offset = "";  // direct, field, index
    clang::VarDecl* variable = nullptr;
    std::string text;
    clang::QualType type;
  };
  // The target of a store, before marks are inserted in it.
  struct Target {
    std::optional<AssignedLvalue> left;  // if assignment schemes observe it
    std::optional<std::string> shared;   // its text, if access schemes observe it
  };

  // The function as a whole.
  void register_function();
  clang::Expr* start_mark(clang::SourceLocation location);
  void add_entry_marks(std::vector<clang::Stmt*>& statements);
  void instrument_member_initialisers(clang::CXXConstructorDecl& constructor);

  // Statements.
  void instrument_statement(clang::Stmt*& slot);
  // The same without marks of coverage and reset points for the statement itself.
  void instrument_substatements(clang::Stmt*& slot);
  // `last` is the use of the last expression, which is the value of a statement expression.
  void instrument_compound(clang::Stmt*& slot, Use last);
  void instrument_declarations(clang::DeclStmt& declaration);
  void instrument_head_declaration(clang::DeclStmt& declaration);
  void instrument_array_bounds(clang::DeclStmt& declaration);
  void instrument_range_for(clang::CXXForRangeStmt& loop);
  // A statement with a condition. `condition` and `increment` may be null.
  void instrument_conditional(clang::Stmt& parent, const clang::Expr* condition,
                              const clang::Expr* increment);
  void instrument_coroutine_return(clang::CoreturnStmt& statement);
  // A mark to put before the statement, or null.
  clang::Expr* coverage_mark(const clang::Stmt& statement);
  clang::Expr* reset_mark(const clang::Stmt& statement);
  // The statement's text for coverage; empty if it has no site.
  [[nodiscard]] std::string coverage_text(const clang::Stmt& statement) const;
  clang::Stmt* in_compound(const std::vector<clang::Stmt*>& statements, clang::SourceLocation begin,
                           clang::SourceLocation end);
  // Wraps the statement in a compound statement, after `statements`.
  void prepend(std::vector<clang::Stmt*> statements, clang::Stmt*& slot);

  // OpenMP: a directive, its associated statement, and the code of its region.
  void instrument_openmp(clang::OMPExecutableDirective& directive);
  void instrument_region_statement(clang::OMPExecutableDirective& directive, clang::Stmt*& slot);
  void instrument_region_body(clang::Stmt*& slot);

  // Expressions.
  void instrument_expression(clang::Stmt*& slot, Use use);
  void instrument_children(clang::Expr& expr, Use use);
  void instrument_condition(clang::Stmt*& slot);
  void instrument_call(clang::Stmt*& slot);
  void instrument_default_argument(clang::CXXDefaultArgExpr& expr);
  void instrument_default_member(clang::Stmt*& slot);
  // An expression that is not part of the function's body: it cannot name its variables.
  void instrument_detached(clang::Stmt*& slot);
  void insert_unref_site(clang::CallExpr& expr);
  // Must the statement stay as it is, because it is not evaluated or has a special form?
  static bool is_opaque(const clang::Stmt& statement);

  // Assignments. `place` is a key of ReachingDefinitions.
  std::optional<AssignedLvalue> assigned_lvalue(const clang::Expr& expr) const;
  std::optional<AssignedLvalue> variable_lvalue(clang::VarDecl& variable) const;
  [[nodiscard]] Target store_target(const clang::Expr& lvalue) const;
  void instrument_assignment(clang::BinaryOperator& expr);
  void lower_compound_assignment(clang::Stmt*& slot, const Target& target);
  void lower_increment(clang::Stmt*& slot, const Target& target, Use use);
  // The value to be stored, with the marks of all schemes that observe the store.
  clang::Expr* add_store_marks(clang::Expr* value, const Target& target, const void* place);
  clang::Expr* load_with_mark(clang::Expr* lvalue, const Target& target);
  // scalar-pairs, bounds and float-kinds.
  clang::Expr* add_assignment_marks(clang::Expr* value, const AssignedLvalue& left,
                                    const void* place);
  clang::Expr* add_pair_mark(clang::Expr* value, const AssignedLvalue& left, const void* place);
  void add_variables(const AssignedLvalue& left, const void* place, Mark& mark,
                     std::vector<clang::VarDecl*>& variables);
  void add_constants(const AssignedLvalue& left, Mark& mark);
  void add_pair(const AssignedLvalue& left, const std::string& right, const char* kind, Mark& mark);

  // Accesses to shared memory: the lvalue's text if a scheme observes it, and `value`, which was
  // loaded or will be stored, with the marks of these schemes.
  [[nodiscard]] std::optional<std::string> shared_lvalue_text(const clang::Expr& lvalue) const;
  clang::Expr* add_access_marks(clang::Expr* value, const std::string& lvalue, bool is_write);
  // The same for assignments observed by yields. The mark follows the assignment.
  [[nodiscard]] std::optional<std::string> yield_site_text(const clang::Expr& assignment) const;
  clang::Expr* add_yield_mark(clang::Expr* assignment, const std::string& what);

  // Sites and marks.
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

  InserterState& state_;
  clang::FunctionDecl& function_;
  MarkBuilder& builder_;
  int function_number_ = -1;  // index into TranslationUnit::functions
  int number_ = -1;           // the same, or that of the enclosing OpenMP region
  SourcePlace location_;
  bool location_enabled_ = true;
  bool is_detached_ = false;            // the function's parameters cannot be named here
  std::vector<clang::VarDecl*> scope_;  // locals that can be named here
  std::optional<ReachingDefinitions> reaching_definitions_;
  std::optional<SharedMemoryAnalysis> shared_memory_;
  mutable std::optional<NormalForm> normal_;  // numbers temporaries as it prints
};

// -fcompare-constants: adds the sites that compare with constants. Call when all functions have
// their marks and all constants are known.
void add_constant_sites(InserterState& state);

}  // namespace telltale::instrument
