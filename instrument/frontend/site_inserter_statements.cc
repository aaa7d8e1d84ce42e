// Statements: coverage, branches, reset points, and initialisers of local variables.
#include <clang/AST/Attr.h>
#include <clang/AST/StmtVisitor.h>
#include <llvm/ADT/SmallPtrSet.h>

#include "frontend/site_inserter.h"

namespace telltale::instrument {
namespace {

// May a constant expression below read the variable? Then its initialiser must not change. Many
// `const` variables are initialised with values that are known at run time only.
bool is_constant(const clang::VarDecl& variable, const clang::ASTContext& context) {
  return variable.isConstexpr() || variable.isUsableInConstantExpressions(context);
}

}  // namespace

std::string SiteInserter::coverage_text(const clang::Stmt& statement) const {
  if (const auto* const branch = llvm::dyn_cast<clang::IfStmt>(&statement))
    return branch->isConsteval() || branch->isConstexpr() ? "" : condition_text(*branch->getCond());
  if (const auto* const choice = llvm::dyn_cast<clang::SwitchStmt>(&statement))
    return text(*choice->getCond());
  if (const auto* const expr = llvm::dyn_cast<clang::Expr>(&statement))
    return (normal_ ? normal_->statement(*expr) : text(*expr)) + ";";
  if (const auto* const result = llvm::dyn_cast<clang::ReturnStmt>(&statement)) {
    if (result->getRetValue() == nullptr) return "return;";
    const std::string value = text(*result->getRetValue());
    return normal_ ? "return (" + value + ");" : "return " + value + ";";
  }
  if (const auto* const given = llvm::dyn_cast<clang::CoreturnStmt>(&statement)) {
    if (given->isImplicit()) return "";
    return given->getOperand() == nullptr ? "co_return;"
                                          : "co_return " + text(*given->getOperand()) + ";";
  }
  if (llvm::isa<clang::BreakStmt>(statement)) return "break;";
  if (llvm::isa<clang::ContinueStmt>(statement)) return "continue;";
  if (const auto* const jump = llvm::dyn_cast<clang::GotoStmt>(&statement))
    return "goto " + jump->getLabel()->getNameAsString() + ";";
  const auto* const declaration = llvm::dyn_cast<clang::DeclStmt>(&statement);
  if (declaration == nullptr) return "";
  std::string what;
  for (const clang::Decl* const decl : declaration->decls()) {
    const auto* const variable = llvm::dyn_cast<clang::VarDecl>(decl);
    if (variable == nullptr || !variable->hasLocalStorage() || variable->getInit() == nullptr)
      continue;
    if (!what.empty()) what += " ";
    what += normal_ ? normal_->name(*variable) : variable->getNameAsString();
    // An implicit constructor call has the location of the name.
    if (variable->getInit()->getBeginLoc() != variable->getLocation())
      what +=
          " = " + (normal_ ? normal_->statement(*variable->getInit()) : text(*variable->getInit()));
    what += ";";
  }
  return what;
}

clang::Expr* SiteInserter::coverage_mark(const clang::Stmt& statement) {
  if (!is_enabled(Scheme::kCoverage)) return nullptr;
  const std::string what = coverage_text(statement);
  if (what.empty()) return nullptr;
  return builder_.marker(add_mark(Scheme::kCoverage, {what}, {}), statement.getBeginLoc());
}

clang::Expr* SiteInserter::reset_mark(const clang::Stmt& statement) {
  const std::vector<FilterRule>& points = state_.unit.options.reset_points;
  if (points.empty()) return nullptr;
  const clang::SourceManager& sources = state_.context.getSourceManager();
  const clang::PresumedLoc here =
      sources.getPresumedLoc(sources.getExpansionLoc(statement.getBeginLoc()));
  if (here.isInvalid()) return nullptr;
  for (const FilterRule& point : points) {
    if (point.line != here.getLine() || point.name != here.getFilename()) continue;
    Mark mark;
    mark.is_reset = true;
    return builder_.marker(finish_mark(std::move(mark)), statement.getBeginLoc());
  }
  return nullptr;
}

void SiteInserter::instrument_statement(clang::Stmt*& slot) {
  if (slot == nullptr) return;
  if (!llvm::isa<clang::CompoundStmt>(slot)) set_location(slot->getBeginLoc());
  if (auto* const declaration = llvm::dyn_cast<clang::DeclStmt>(slot))
    return instrument_head_declaration(*declaration);
  std::vector<clang::Stmt*> marks;
  for (clang::Expr* const mark : {reset_mark(*slot), coverage_mark(*slot)}) {
    if (mark != nullptr) marks.push_back(mark);
  }
  clang::Stmt* const before = slot;
  instrument_substatements(slot);
  if (marks.empty()) return;
  marks.push_back(slot);
  slot = in_compound(marks, before->getBeginLoc(), before->getEndLoc());
}

// A declaration in the head of a loop or an `if` cannot be wrapped in a compound statement, which
// would end its variables' scope. Its coverage mark goes into the initialiser if that is a scalar.
void SiteInserter::instrument_head_declaration(clang::DeclStmt& declaration) {
  auto* const variable = declaration.isSingleDecl()
                             ? llvm::dyn_cast<clang::VarDecl>(declaration.getSingleDecl())
                             : nullptr;
  const bool is_number = variable != nullptr && variable->getInit() != nullptr &&
                         variable->hasLocalStorage() && variable->getType()->isScalarType() &&
                         !llvm::isa<clang::InitListExpr>(variable->getInit()) &&
                         !is_constant(*variable, state_.context);
  clang::Expr* const mark = is_number ? coverage_mark(declaration) : nullptr;
  clang::Stmt* node = &declaration;
  instrument_substatements(node);
  if (mark == nullptr) return;
  clang::Stmt** const slot = variable->getInitAddress();
  auto* const value = llvm::cast<clang::Expr>(*slot);
  *slot = builder_.binary(clang::BO_Comma, mark, value, value->getType());
}

void SiteInserter::instrument_compound(clang::Stmt*& slot, Use last) {
  auto& block = *llvm::cast<clang::CompoundStmt>(slot);
  const std::size_t visible = scope_.size();
  std::vector<clang::Stmt*> statements;
  bool grown = false;
  for (clang::Stmt*& child : block.body()) {
    if (!llvm::isa<clang::CompoundStmt>(child)) set_location(child->getBeginLoc());
    for (clang::Expr* const mark : {reset_mark(*child), coverage_mark(*child)}) {
      if (mark == nullptr) continue;
      statements.push_back(mark);
      grown = true;
    }
    if (llvm::isa<clang::Expr>(child)) {
      const bool is_value = last == Use::kValue && &child == block.body_end() - 1;
      instrument_expression(child, is_value ? Use::kValue : Use::kDiscarded);
    } else {
      instrument_substatements(child);
    }
    statements.push_back(child);
  }
  scope_.resize(visible);
  if (!grown) return;
  slot = clang::CompoundStmt::Create(
      state_.context, statements,
      block.hasStoredFPFeatures() ? block.getStoredFPFeatures() : clang::FPOptionsOverride(),
      block.getLBracLoc(), block.getRBracLoc());
}

void SiteInserter::instrument_conditional(clang::Stmt& parent, const clang::Expr* condition_expr,
                                          const clang::Expr* increment_expr) {
  const SourcePlace place = location_;
  const bool wanted = location_enabled_;
  const bool is_do = llvm::isa<clang::DoStmt>(parent);
  // The condition of `if constexpr` is already evaluated.
  const auto* const branch = llvm::dyn_cast<clang::IfStmt>(&parent);
  const clang::Stmt* const answered =
      branch != nullptr && branch->isConstexpr() ? branch->getCond() : nullptr;
  for (clang::Stmt*& child : parent.children()) {
    if (child == nullptr || child == answered) continue;
    auto* const expr = llvm::dyn_cast<clang::Expr>(child);
    if (expr != nullptr && expr == condition_expr) {
      if (is_do) set_location(llvm::cast<clang::DoStmt>(parent).getWhileLoc());
      clang::Expr* mark = nullptr;
      if (!llvm::isa<clang::IfStmt>(parent) && is_enabled(Scheme::kCoverage) &&
          !expr->isEvaluatable(state_.context))
        mark = builder_.marker(add_mark(Scheme::kCoverage, {condition_text(*expr)}, {}),
                               expr->getBeginLoc());
      instrument_condition(child);
      auto* const value = llvm::cast<clang::Expr>(child);
      if (mark != nullptr) child = builder_.binary(clang::BO_Comma, mark, value, value->getType());
    } else if (expr != nullptr && expr == increment_expr) {
      clang::Expr* mark = nullptr;
      if (is_enabled(Scheme::kCoverage))
        mark = builder_.marker(add_mark(Scheme::kCoverage, {coverage_text(*expr)}, {}),
                               expr->getBeginLoc());
      instrument_expression(child, Use::kDiscarded);
      auto* const value = llvm::cast<clang::Expr>(child);
      if (mark != nullptr) {
        child = clang::BinaryOperator::Create(state_.context, mark, value, clang::BO_Comma,
                                              value->getType(), value->getValueKind(),
                                              value->getObjectKind(), value->getBeginLoc(), {});
      }
    } else {
      instrument_statement(child);
      location_ = place;
      location_enabled_ = wanted;
    }
  }
}

void SiteInserter::instrument_range_for(clang::CXXForRangeStmt& loop) {
  clang::Stmt* init = loop.getInit();
  if (init != nullptr) instrument_statement(init);
  instrument_declarations(*loop.getRangeStmt());
  if (is_enabled(Scheme::kBranches) && loop.getCond() != nullptr &&
      loop.getCond()->getType()->isBooleanType()) {
    const unsigned mark =
        add_mark(Scheme::kBranches, {text(*loop.getRangeInit())}, loop.getCond()->getType());
    loop.setCond(builder_.forward(mark, loop.getCond()));
  }
  const std::size_t visible = scope_.size();
  clang::Stmt* body = loop.getBody();
  instrument_statement(body);
  loop.setBody(body);
  scope_.resize(visible);
}

// The outermost expression of a bound is not replaced: canonical types point to it as well.
void SiteInserter::instrument_array_bounds(clang::DeclStmt& declaration) {
  llvm::SmallPtrSet<const clang::Stmt*, 4> initialisers;
  for (const clang::Decl* const decl : declaration.decls()) {
    if (const auto* const variable = llvm::dyn_cast<clang::VarDecl>(decl))
      initialisers.insert(variable->getInit());
  }
  for (clang::Stmt* child : declaration.children()) {
    if (child != nullptr && !initialisers.contains(child))
      instrument_expression(child, Use::kValue);
  }
}

void SiteInserter::instrument_declarations(clang::DeclStmt& declaration) {
  instrument_array_bounds(declaration);
  for (clang::Decl* const decl : declaration.decls()) {
    auto* const variable = llvm::dyn_cast<clang::VarDecl>(decl);
    if (variable == nullptr) continue;
    clang::Stmt** slot = variable->getInit() == nullptr ? nullptr : variable->getInitAddress();
    const bool is_const = is_constant(*variable, state_.context);
    const bool is_static = variable->isStaticLocal() && (!state_.context.getLangOpts().CPlusPlus ||
                                                         variable->hasConstantInitialization());
    if (slot != nullptr && !is_const && !is_static && !variable->hasExternalStorage()) {
      const bool yields = shared_memory_ && is_enabled(Scheme::kYields) &&
                          variable->hasLocalStorage() &&
                          (shared_memory_->is_shared(*variable, state_.context) ||
                           shared_memory_->is_accessed_by(**slot, state_.context));
      const std::string what =
          yields ? variable->getNameAsString() + " = " + text(*variable->getInit()) : "";
      instrument_expression(*slot, Use::kValue);
      while (auto* const list = llvm::dyn_cast<clang::InitListExpr>(*slot)) {
        if (list->getNumInits() != 1 || !variable->getType()->isScalarType()) break;
        slot = &*list->children().begin();
      }
      if (const std::optional<AssignedLvalue> left = variable_lvalue(*variable);
          left && variable->hasLocalStorage())
        *slot = add_assignment_marks(llvm::cast<clang::Expr>(*slot), *left, variable);
      auto* const value = llvm::cast<clang::Expr>(*slot);
      if (yields && value->isPRValue()) *slot = add_yield_mark(value, what);
      if (shared_memory_ && shared_memory_->is_shared(*variable, state_.context))
        *slot = add_access_marks(llvm::cast<clang::Expr>(*slot), local_name(*variable), true);
    }
    if (!variable->hasExternalStorage()) scope_.push_back(variable);
  }
}

// Instruments the children of one statement.
class SiteInserter::StatementVisitor : public clang::StmtVisitor<StatementVisitor> {
 public:
  // `slot` holds the statement in its parent.
  StatementVisitor(SiteInserter& inserter, clang::Stmt*& slot) : inserter_(inserter), slot_(slot) {}

  void VisitCompoundStmt(clang::CompoundStmt*) {
    inserter_.instrument_compound(slot_, Use::kDiscarded);
  }
  void VisitDeclStmt(clang::DeclStmt* declaration) {
    inserter_.instrument_declarations(*declaration);
  }
  void VisitCoreturnStmt(clang::CoreturnStmt* statement) {
    inserter_.instrument_coroutine_return(*statement);
  }
  void VisitIfStmt(clang::IfStmt* branch) {
    if (!branch->isConsteval()) {
      const clang::Expr* const condition = branch->isConstexpr() ? nullptr : branch->getCond();
      return inserter_.instrument_conditional(*branch, condition, nullptr);
    }
    // Only one branch exists at run time.
    const bool is_then = branch->isNegatedConsteval();
    clang::Stmt* taken = is_then ? branch->getThen() : branch->getElse();
    if (taken == nullptr) return;  // a statement without `else` has no place for one
    inserter_.instrument_statement(taken);
    is_then ? branch->setThen(taken) : branch->setElse(taken);
  }
  void VisitWhileStmt(clang::WhileStmt* loop) {
    inserter_.instrument_conditional(*loop, loop->getCond(), nullptr);
  }
  void VisitDoStmt(clang::DoStmt* loop) {
    inserter_.instrument_conditional(*loop, loop->getCond(), nullptr);
  }
  void VisitForStmt(clang::ForStmt* loop) {
    inserter_.instrument_conditional(*loop, loop->getCond(), loop->getInc());
  }
  void VisitCXXForRangeStmt(clang::CXXForRangeStmt* loop) { inserter_.instrument_range_for(*loop); }
  void VisitSwitchStmt(clang::SwitchStmt* statement) {
    for (clang::Stmt*& child : statement->children()) {
      if (child == statement->getCond()) {
        inserter_.instrument_expression(child, Use::kValue);
      } else {
        inserter_.instrument_statement(child);
      }
    }
  }
  void VisitCaseStmt(clang::CaseStmt* label) {
    clang::Stmt* inner = label->getSubStmt();
    inserter_.instrument_statement(inner);
    label->setSubStmt(inner);
  }
  void VisitAttributedStmt(clang::AttributedStmt* statement) {
    // A mark on the result would end the tail call.
    for (const clang::Attr* const attribute : statement->getAttrs()) {
      if (attribute->getKind() == clang::attr::MustTail) return;
    }
    instrument_statements(*statement);
  }
  void VisitLabelStmt(clang::LabelStmt* label) { instrument_statements(*label); }
  void VisitDefaultStmt(clang::DefaultStmt* label) { instrument_statements(*label); }
  void VisitCXXTryStmt(clang::CXXTryStmt* statement) { instrument_statements(*statement); }
  void VisitCXXCatchStmt(clang::CXXCatchStmt* handler) { instrument_statements(*handler); }
  void VisitStmt(clang::Stmt* statement) {
    for (clang::Stmt*& child : statement->children()) {
      if (child != nullptr && llvm::isa<clang::Expr>(child)) {
        inserter_.instrument_expression(child, Use::kValue);
      } else {
        inserter_.instrument_statement(child);
      }
    }
  }

 private:
  void instrument_statements(clang::Stmt& parent) {
    for (clang::Stmt*& child : parent.children()) inserter_.instrument_statement(child);
  }

  SiteInserter& inserter_;
  clang::Stmt*& slot_;
};

void SiteInserter::instrument_substatements(clang::Stmt*& slot) {
  if (slot == nullptr) return;
  if (auto* const directive = llvm::dyn_cast<clang::OMPExecutableDirective>(slot))
    return instrument_openmp(*directive);
  if (is_opaque(*slot)) return;
  if (llvm::isa<clang::Expr>(slot)) return instrument_expression(slot, Use::kDiscarded);
  if (!state_.visited.insert(slot).second) return;
  const bool declares = llvm::isa<clang::DeclStmt>(slot);
  const std::size_t visible = scope_.size();
  StatementVisitor(*this, slot).Visit(slot);
  if (!declares) scope_.resize(visible);
}

}  // namespace telltale::instrument
