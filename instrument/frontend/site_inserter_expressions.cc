// Expressions: conditions, calls, default arguments and default member initialisers.
#include <clang/AST/StmtVisitor.h>
#include <clang/Basic/Builtins.h>

#include <utility>

#include "frontend/site_inserter.h"

namespace telltale::instrument {
namespace {

// Does it always call a function that no constant expression can call? Then it can be changed at
// any time.
bool is_never_constant_evaluated(const clang::Stmt& statement) {
  if (const auto* const call = llvm::dyn_cast<clang::CallExpr>(&statement)) {
    const clang::FunctionDecl* const callee = call->getDirectCallee();
    if (callee != nullptr && callee->getBuiltinID() == 0 && !callee->isConstexpr()) return true;
  } else if (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(&statement)) {
    if (binary->isLogicalOp()) return is_never_constant_evaluated(*binary->getLHS());
  } else if (const auto* const choice =
                 llvm::dyn_cast<clang::AbstractConditionalOperator>(&statement)) {
    return is_never_constant_evaluated(*choice->getCond());
  } else if (!llvm::isa<clang::CastExpr>(statement) && !llvm::isa<clang::ParenExpr>(statement) &&
             !llvm::isa<clang::FullExpr>(statement) &&
             !llvm::isa<clang::UnaryOperator>(statement) &&
             !llvm::isa<clang::InitListExpr>(statement)) {
    return false;
  }
  for (const clang::Stmt* const child : statement.children()) {
    if (child != nullptr && is_never_constant_evaluated(*child)) return true;
  }
  return false;
}

// The expression that was selected at compile time, or null.
const clang::Expr* selected_expression(const clang::Expr& expr) {
  if (const auto* const by_type = llvm::dyn_cast<clang::GenericSelectionExpr>(&expr))
    return by_type->getResultExpr();
  if (const auto* const by_value = llvm::dyn_cast<clang::ChooseExpr>(&expr))
    return by_value->getChosenSubExpr();
  return nullptr;
}

}  // namespace

// Instruments the children of one expression.
class SiteInserter::ExpressionVisitor : public clang::StmtVisitor<ExpressionVisitor> {
 public:
  ExpressionVisitor(SiteInserter& inserter, Use use) : inserter_(inserter), use_(use) {}

  void VisitLambdaExpr(clang::LambdaExpr* lambda) {
    inserter_.state_.deferred.push_back(lambda->getCallOperator());
    for (clang::Expr*& init :
         llvm::make_range(const_cast<clang::Expr**>(lambda->capture_init_begin()),
                          const_cast<clang::Expr**>(lambda->capture_init_end()))) {
      clang::Stmt* slot = init;
      if (slot == nullptr) continue;
      inserter_.instrument_expression(slot, Use::kValue);
      init = llvm::cast<clang::Expr>(slot);
    }
  }

  // `a != b` as `!(a == b)`: clang relies on its shape, so only the operands may change.
  void VisitCXXRewrittenBinaryOperator(clang::CXXRewrittenBinaryOperator* rewritten) {
    clang::Expr* inner = rewritten->getSemanticForm()->IgnoreImplicit();
    if (auto* const negation = llvm::dyn_cast<clang::UnaryOperator>(inner))
      inner = negation->getSubExpr()->IgnoreImplicit();
    auto* const equal = llvm::dyn_cast<clang::CXXOperatorCallExpr>(inner);
    if (equal == nullptr || equal->getOperator() != clang::OO_EqualEqual) return;
    instrument_children(*equal, Use::kValue);
  }

  // The children are the operand as written, the common expression built from it, and calls on
  // that. clang emits code for the second.
  void VisitCoroutineSuspendExpr(clang::CoroutineSuspendExpr* expr) {
    inserter_.instrument_expression(*std::next(expr->children().begin()), Use::kValue);
  }

  void VisitStmtExpr(clang::StmtExpr* expr) {
    const SourcePlace location = inserter_.location_;
    const bool is_enabled = inserter_.location_enabled_;
    inserter_.instrument_compound(*expr->children().begin(), Use::kValue);
    inserter_.location_ = location;
    inserter_.location_enabled_ = is_enabled;
  }

  void VisitBinaryOperator(clang::BinaryOperator* binary) {
    if (binary->isLogicalOp()) {
      for (clang::Stmt*& child : binary->children()) inserter_.instrument_condition(child);
      return;
    }
    const bool is_comma = binary->getOpcode() == clang::BO_Comma;
    for (clang::Stmt*& child : binary->children()) {
      const Use use = !is_comma ? Use::kValue : child == binary->getLHS() ? Use::kDiscarded : use_;
      inserter_.instrument_expression(child, use);
    }
  }

  void VisitAbstractConditionalOperator(clang::AbstractConditionalOperator* choice) {
    // `a ?: b` has the condition among its children twice.
    const clang::Expr* const condition = choice->getCond();
    bool has_condition = false;
    for (clang::Stmt*& child : choice->children()) {
      if (child == condition && !has_condition) {
        has_condition = true;
        inserter_.instrument_condition(child);
      } else {
        inserter_.instrument_expression(child, use_);
      }
    }
  }

  void VisitCastExpr(clang::CastExpr* cast) {
    instrument_children(*cast,
                        cast->getCastKind() == clang::CK_ToVoid ? Use::kDiscarded : Use::kValue);
  }
  void VisitParenExpr(clang::ParenExpr* expr) { instrument_children(*expr, use_); }
  void VisitExprWithCleanups(clang::ExprWithCleanups* expr) { instrument_children(*expr, use_); }
  void VisitStmt(clang::Stmt* expr) { instrument_children(*expr, Use::kValue); }

 private:
  void instrument_children(clang::Stmt& expr, Use use) {
    for (clang::Stmt*& child : expr.children()) {
      if (child == nullptr) continue;
      if (llvm::isa<clang::Expr>(child)) {
        inserter_.instrument_expression(child, use);
      } else {
        inserter_.instrument_statement(child);
      }
    }
  }

  SiteInserter& inserter_;
  Use use_;
};

void SiteInserter::instrument_children(clang::Expr& expr, Use use) {
  ExpressionVisitor(*this, use).Visit(&expr);
}

// A default argument is one expression for all calls: marks are inserted once. It cannot name the
// caller's variables. If a constant expression may evaluate it, it stays as it is.
void SiteInserter::instrument_default_argument(clang::CXXDefaultArgExpr& expr) {
  clang::ParmVarDecl* const parameter = expr.getParam();
  const auto* const owner = llvm::dyn_cast<clang::FunctionDecl>(parameter->getDeclContext());
  if (expr.hasRewrittenInit() || owner == nullptr || owner->isConstexpr() || owner->isImplicit() ||
      parameter->hasUninstantiatedDefaultArg() || parameter->hasUnparsedDefaultArg() ||
      parameter->getInit() == nullptr)
    return;
  if (!state_.unit.options.system_headers &&
      state_.context.getSourceManager().isInSystemHeader(parameter->getLocation()))
    return;
  if (state_.instrumented_defaults.insert(parameter).second)
    instrument_detached(*parameter->getInitAddress());
}

void SiteInserter::instrument_detached(clang::Stmt*& slot) {
  const SourcePlace place = location_;
  const bool wanted = location_enabled_;
  const std::vector<clang::VarDecl*> around = std::exchange(scope_, {});
  const bool was_inside = std::exchange(is_detached_, true);
  set_location(slot->getBeginLoc());
  instrument_expression(slot, Use::kValue);
  is_detached_ = was_inside;
  scope_ = around;
  location_ = place;
  location_enabled_ = wanted;
}

// A default member initialiser, unless clang copied it, is one expression for all constructors and
// for initialiser lists that leave the member out.
void SiteInserter::instrument_default_member(clang::Stmt*& slot) {
  auto& expr = *llvm::cast<clang::CXXDefaultInitExpr>(slot);
  clang::FieldDecl* const field = expr.getField();
  if (!state_.unit.options.system_headers &&
      state_.context.getSourceManager().isInSystemHeader(field->getLocation()))
    return;
  clang::Expr* const init =
      expr.hasRewrittenInit() ? expr.getRewrittenExpr() : field->getInClassInitializer();
  if (init == nullptr) return;
  // Copies share subexpressions with the original.
  const auto* const owner = llvm::dyn_cast<clang::CXXRecordDecl>(field->getParent());
  if (!state_.at_end_of_unit && (owner == nullptr || owner->isLiteral()) &&
      !is_never_constant_evaluated(*init))
    return;
  if (!expr.hasRewrittenInit() && !state_.instrumented_defaults.insert(field).second) return;
  clang::Stmt* changed = init;
  instrument_detached(changed);
  if (changed == init) return;
  if (expr.hasRewrittenInit()) {
    slot =
        clang::CXXDefaultInitExpr::Create(state_.context, expr.getBeginLoc(), field,
                                          expr.getUsedContext(), llvm::cast<clang::Expr>(changed));
  } else {
    field->setInClassInitializer(llvm::cast<clang::Expr>(changed));
  }
}

// clang emits either a call with the converted operand or, if `e` has no value, the operand.
void SiteInserter::instrument_coroutine_return(clang::CoreturnStmt& statement) {
  auto part = statement.children().begin();
  clang::Stmt*& operand = *part;
  if (operand != nullptr && !llvm::isa<clang::InitListExpr>(operand) &&
      llvm::cast<clang::Expr>(operand)->getType()->isVoidType())
    return instrument_expression(operand, Use::kDiscarded);
  clang::Stmt* call = *++part;
  if (auto* const whole = llvm::dyn_cast_or_null<clang::ExprWithCleanups>(call))
    call = whole->getSubExpr();
  if (call == nullptr || !llvm::isa<clang::CallExpr>(call)) return;
  for (clang::Stmt*& child : call->children()) instrument_expression(child, Use::kValue);
}

void SiteInserter::instrument_expression(clang::Stmt*& slot, Use use) {
  if (slot == nullptr) return;
  if (auto* const left_out = llvm::dyn_cast<clang::CXXDefaultArgExpr>(slot))
    return instrument_default_argument(*left_out);
  if (llvm::isa<clang::CXXDefaultInitExpr>(slot)) return instrument_default_member(slot);
  if (is_opaque(*slot)) return;
  auto& expr = *llvm::cast<clang::Expr>(slot);
  if (const clang::Expr* const one = selected_expression(expr)) {
    if (!state_.visited.insert(&expr).second) return;
    for (clang::Stmt*& child : expr.children()) {
      if (child == one) return instrument_expression(child, use);
    }
    return;
  }
  if (auto* const called = llvm::dyn_cast<clang::CallExpr>(&expr)) {
    // The argument is not evaluated.
    const unsigned builtin = called->getBuiltinCallee();
    if (builtin == clang::Builtin::BI__builtin_constant_p ||
        builtin == clang::Builtin::BI__builtin_object_size ||
        builtin == clang::Builtin::BI__builtin_dynamic_object_size)
      return;
    return instrument_call(slot);
  }
  const bool first = state_.visited.insert(&expr).second;
  auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(&expr);
  const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(&expr);
  const bool assigns = binary != nullptr && binary->isAssignmentOp();
  if (assigns || (unary != nullptr && unary->isIncrementDecrementOp())) {
    const std::optional<std::string> yields = yield_site_text(expr);
    if (assigns && !binary->isCompoundAssignmentOp()) {
      if (first) instrument_assignment(*binary);
    } else {
      const Target target = store_target(assigns ? *binary->getLHS() : *unary->getSubExpr());
      if (first) instrument_children(expr, Use::kValue);
      assigns ? lower_compound_assignment(slot, target) : lower_increment(slot, target, use);
    }
    if (yields) slot = add_yield_mark(llvm::cast<clang::Expr>(slot), *yields);
    return;
  }
  const auto* const cast = llvm::dyn_cast<clang::ImplicitCastExpr>(&expr);
  const bool reads = cast != nullptr && cast->getCastKind() == clang::CK_LValueToRValue;
  const std::optional<std::string> shared =
      reads ? shared_lvalue_text(*cast->getSubExpr()) : std::nullopt;
  if (first) instrument_children(expr, use);
  if (shared) slot = add_access_marks(&expr, *shared, false);
}

void SiteInserter::instrument_condition(clang::Stmt*& top) {
  clang::Stmt** slot = &top;
  for (;;) {
    if (*slot == nullptr || is_opaque(**slot)) return;
    auto& expr = *llvm::cast<clang::Expr>(*slot);
    const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(&expr);
    const bool negates = unary != nullptr && unary->getOpcode() == clang::UO_LNot;
    if (!negates && !llvm::isa<clang::ParenExpr>(expr)) break;
    slot = &*expr.children().begin();
  }
  auto& expr = *llvm::cast<clang::Expr>(*slot);
  const clang::Expr* const bare = expr.IgnoreParenImpCasts();
  const auto* const logic = llvm::dyn_cast<clang::BinaryOperator>(bare);
  if (logic != nullptr && logic->isLogicalOp()) return instrument_expression(*slot, Use::kValue);

  const clang::QualType type = expr.getType();
  bool constant = false;
  const bool folded = expr.EvaluateAsBooleanCondition(constant, state_.context) &&
                      !expr.HasSideEffects(state_.context);
  const bool site = is_enabled(Scheme::kBranches) && type->isScalarType() &&
                    !type->isMemberPointerType() && !folded && !type->isNullPtrType() &&
                    !type->isBlockPointerType();
  const std::string predicate = site ? text(expr) : "";
  instrument_expression(*slot, Use::kValue);
  if (!site) return;
  const unsigned mark = add_mark(Scheme::kBranches, {predicate}, state_.context.BoolTy);
  auto* const value = llvm::cast<clang::Expr>(*slot);
  *slot = builder_.forward(mark, builder_.convert(value, state_.context.BoolTy));
}

void SiteInserter::insert_unref_site(clang::CallExpr& expr) {
  const clang::FunctionDecl* const callee = expr.getDirectCallee();
  if (!is_enabled(Scheme::kGObjectUnref) || callee == nullptr || expr.getNumArgs() != 1) return;
  if (callee->getDeclName().getAsString() != "g_object_unref") return;
  if (!expr.getArg(0)->getType()->isPointerType()) return;
  const unsigned mark =
      add_mark(Scheme::kGObjectUnref, {text(*expr.getArg(0)->IgnoreParenImpCasts())},
               expr.getArg(0)->getType());
  expr.setArg(0, builder_.forward(mark, expr.getArg(0)));
}

void SiteInserter::instrument_call(clang::Stmt*& slot) {
  auto& expr = *llvm::cast<clang::CallExpr>(slot);
  const clang::QualType type = expr.getType();
  const ValueKind kind = expr.isPRValue() ? value_kind(type, state_.context) : ValueKind::kNone;
  const clang::FunctionDecl* const callee = expr.getDirectCallee();
  bool site = is_enabled(Scheme::kReturns) && kind != ValueKind::kNone && kind != ValueKind::kFloat;
  if (callee != nullptr && callee->isConsteval()) return;
  clang::Expr::EvalResult folded;
  if (site && callee != nullptr && callee->getBuiltinID() != 0 &&
      !state_.context.BuiltinInfo.isPredefinedLibFunction(callee->getBuiltinID()))
    site = !expr.EvaluateAsRValue(folded, state_.context) || expr.HasSideEffects(state_.context);
  std::string name;
  if (site) {
    name = normal_ ? normal_->callee(*expr.getCallee())
                   : text(*expr.getCallee()->IgnoreParenImpCasts());
    // Operators and conversions have no callee text.
    if (callee != nullptr && (llvm::isa<clang::CXXOperatorCallExpr>(expr) || name.empty() ||
                              llvm::isa<clang::CXXConversionDecl>(callee)))
      name = callee->getNameAsString();
    if (const auto* const op = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&expr);
        op != nullptr && op->getOperator() == clang::OO_Call)
      name = text(*expr.getArg(0)->IgnoreParenImpCasts());
  }
  if (state_.visited.insert(&expr).second) {
    for (clang::Stmt*& child : expr.children()) instrument_expression(child, Use::kValue);
    insert_unref_site(expr);
  }
  if (site) slot = builder_.forward(add_mark(Scheme::kReturns, {name}, type), &expr);
}

}  // namespace telltale::instrument
