#include <clang/Basic/Builtins.h>

#include <utility>

#include "frontend/site_inserter.h"

namespace telltale::instrument {
namespace {

// Does it always call what no constant expression can? Such a one can be changed at any time.
bool is_never_constant(const clang::Stmt& statement) {
  if (const auto* const call = llvm::dyn_cast<clang::CallExpr>(&statement)) {
    const clang::FunctionDecl* const callee = call->getDirectCallee();
    if (callee != nullptr && callee->getBuiltinID() == 0 && !callee->isConstexpr()) return true;
  } else if (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(&statement)) {
    if (binary->isLogicalOp()) return is_never_constant(*binary->getLHS());
  } else if (const auto* const choice =
                 llvm::dyn_cast<clang::AbstractConditionalOperator>(&statement)) {
    return is_never_constant(*choice->getCond());
  } else if (!llvm::isa<clang::CastExpr>(statement) && !llvm::isa<clang::ParenExpr>(statement) &&
             !llvm::isa<clang::FullExpr>(statement) &&
             !llvm::isa<clang::UnaryOperator>(statement) &&
             !llvm::isa<clang::InitListExpr>(statement)) {
    return false;
  }
  for (const clang::Stmt* const child : statement.children()) {
    if (child != nullptr && is_never_constant(*child)) return true;
  }
  return false;
}

// Of several expressions, one of which was chosen when it was compiled: that one.
const clang::Expr* chosen(const clang::Expr& expr) {
  if (const auto* const by_type = llvm::dyn_cast<clang::GenericSelectionExpr>(&expr))
    return by_type->getResultExpr();
  if (const auto* const by_value = llvm::dyn_cast<clang::ChooseExpr>(&expr))
    return by_value->getChosenSubExpr();
  return nullptr;
}

}  // namespace

void Planter::expression_parts(clang::Expr& expr, Use use) {
  if (auto* const lambda = llvm::dyn_cast<clang::LambdaExpr>(&expr)) {
    planting_.later.push_back(lambda->getCallOperator());
    for (clang::Expr*& init :
         llvm::make_range(const_cast<clang::Expr**>(lambda->capture_init_begin()),
                          const_cast<clang::Expr**>(lambda->capture_init_end()))) {
      clang::Stmt* slot = init;
      if (slot == nullptr) continue;
      expression(slot, Use::kValue);
      init = llvm::cast<clang::Expr>(slot);
    }
    return;
  }
  if (auto* const rewritten = llvm::dyn_cast<clang::CXXRewrittenBinaryOperator>(&expr)) {
    // `a != b` as `!(a == b)`: clang looks at the shape again, only the operands may change.
    clang::Expr* inner = rewritten->getSemanticForm()->IgnoreImplicit();
    if (auto* const negation = llvm::dyn_cast<clang::UnaryOperator>(inner))
      inner = negation->getSubExpr()->IgnoreImplicit();
    auto* const equal = llvm::dyn_cast<clang::CXXOperatorCallExpr>(inner);
    if (equal == nullptr || equal->getOperator() != clang::OO_EqualEqual) return;
    for (clang::Stmt*& child : equal->children()) expression(child, Use::kValue);
    return;
  }
  if (llvm::isa<clang::CoroutineSuspendExpr>(expr)) {
    // Its operand as written, what is awaited, which is made of it, and what else clang made of
    // that: code comes of the second.
    return expression(*std::next(expr.children().begin()), Use::kValue);
  }
  if (llvm::isa<clang::StmtExpr>(expr)) {
    const Place place = place_;
    const bool wanted = wanted_here_;
    compound(*expr.children().begin(), Use::kValue);
    place_ = place;
    wanted_here_ = wanted;
    return;
  }
  if (auto* const logic = llvm::dyn_cast<clang::BinaryOperator>(&expr);
      logic != nullptr && logic->isLogicalOp()) {
    for (clang::Stmt*& child : expr.children()) condition(child);
    return;
  }
  if (auto* const choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(&expr)) {
    const clang::Expr* const question = choice->getCond();
    bool asked = false;
    for (clang::Stmt*& child : expr.children()) {
      if (child == question && !asked) {
        asked = true;
        condition(child);
      } else {
        expression(child, use);
      }
    }
    return;
  }
  const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(&expr);
  const bool is_comma = binary != nullptr && binary->getOpcode() == clang::BO_Comma;
  const auto* const cast = llvm::dyn_cast<clang::CastExpr>(&expr);
  const bool drops = cast != nullptr && cast->getCastKind() == clang::CK_ToVoid;
  const bool hands_on =
      llvm::isa<clang::ParenExpr>(expr) || llvm::isa<clang::ExprWithCleanups>(expr);
  for (clang::Stmt*& child : expr.children()) {
    if (child == nullptr) continue;
    Use child_use = Use::kValue;
    if (drops || (is_comma && child == binary->getLHS())) {
      child_use = Use::kDiscarded;
    } else if (is_comma || hands_on) {
      child_use = use;
    }
    if (llvm::isa<clang::Expr>(child)) {
      expression(child, child_use);
    } else {
      statement(child);
    }
  }
}

// One expression for all calls that leave the argument out: planted in once, by the first of them.
// It names nothing of that caller's. What a constant expression may still run stays as it is.
void Planter::default_argument(clang::CXXDefaultArgExpr& expr) {
  clang::ParmVarDecl* const parameter = expr.getParam();
  const auto* const owner = llvm::dyn_cast<clang::FunctionDecl>(parameter->getDeclContext());
  if (expr.hasRewrittenInit() || owner == nullptr || owner->isConstexpr() || owner->isImplicit() ||
      parameter->hasUninstantiatedDefaultArg() || parameter->hasUnparsedDefaultArg() ||
      parameter->getInit() == nullptr)
    return;
  if (!planting_.unit.options.system_headers &&
      planting_.context.getSourceManager().isInSystemHeader(parameter->getLocation()))
    return;
  if (planting_.defaults.insert(parameter).second) elsewhere(*parameter->getInitAddress());
}

void Planter::elsewhere(clang::Stmt*& slot) {
  const Place place = place_;
  const bool wanted = wanted_here_;
  const std::vector<clang::VarDecl*> around = std::exchange(scope_, {});
  const bool was_inside = std::exchange(inside_region_, true);
  at(slot->getBeginLoc());
  expression(slot, Use::kValue);
  inside_region_ = was_inside;
  scope_ = around;
  place_ = place;
  wanted_here_ = wanted;
}

// The same for a member's initialiser in the class: where clang made no copy of it, it is one
// expression for all constructors, and for lists that leave the member out.
void Planter::default_member(clang::Stmt*& slot) {
  auto& expr = *llvm::cast<clang::CXXDefaultInitExpr>(slot);
  clang::FieldDecl* const field = expr.getField();
  if (!planting_.unit.options.system_headers &&
      planting_.context.getSourceManager().isInSystemHeader(field->getLocation()))
    return;
  clang::Expr* const init =
      expr.hasRewrittenInit() ? expr.getRewrittenExpr() : field->getInClassInitializer();
  if (init == nullptr) return;
  // Copies share parts with the original.
  const auto* const owner = llvm::dyn_cast<clang::CXXRecordDecl>(field->getParent());
  if (!planting_.is_end && (owner == nullptr || owner->isLiteral()) && !is_never_constant(*init))
    return;
  if (!expr.hasRewrittenInit() && !planting_.defaults.insert(field).second) return;
  clang::Stmt* changed = init;
  elsewhere(changed);
  if (changed == init) return;
  if (expr.hasRewrittenInit()) {
    slot =
        clang::CXXDefaultInitExpr::Create(planting_.context, expr.getBeginLoc(), field,
                                          expr.getUsedContext(), llvm::cast<clang::Expr>(changed));
  } else {
    field->setInClassInitializer(llvm::cast<clang::Expr>(changed));
  }
}

// What is made of `co_return e` is one of both: a call with what `e` became, or `e` itself, if it
// is of no value.
void Planter::coroutine_return(clang::CoreturnStmt& statement) {
  auto part = statement.children().begin();
  clang::Stmt*& operand = *part;
  if (operand != nullptr && !llvm::isa<clang::InitListExpr>(operand) &&
      llvm::cast<clang::Expr>(operand)->getType()->isVoidType())
    return expression(operand, Use::kDiscarded);
  clang::Stmt* call = *++part;
  if (auto* const whole = llvm::dyn_cast_or_null<clang::ExprWithCleanups>(call))
    call = whole->getSubExpr();
  if (call == nullptr || !llvm::isa<clang::CallExpr>(call)) return;
  for (clang::Stmt*& child : call->children()) expression(child, Use::kValue);
}

void Planter::expression(clang::Stmt*& slot, Use use) {
  if (slot == nullptr) return;
  if (auto* const left_out = llvm::dyn_cast<clang::CXXDefaultArgExpr>(slot))
    return default_argument(*left_out);
  if (llvm::isa<clang::CXXDefaultInitExpr>(slot)) return default_member(slot);
  if (is_opaque(*slot)) return;
  auto& expr = *llvm::cast<clang::Expr>(slot);
  if (const clang::Expr* const one = chosen(expr)) {
    if (!planting_.been_inside.insert(&expr).second) return;
    for (clang::Stmt*& child : expr.children()) {
      if (child == one) return expression(child, use);
    }
    return;
  }
  if (auto* const called = llvm::dyn_cast<clang::CallExpr>(&expr)) {
    // Only asked about, never computed.
    const unsigned builtin = called->getBuiltinCallee();
    if (builtin == clang::Builtin::BI__builtin_constant_p ||
        builtin == clang::Builtin::BI__builtin_object_size ||
        builtin == clang::Builtin::BI__builtin_dynamic_object_size)
      return;
    return call(slot);
  }
  const bool first = planting_.been_inside.insert(&expr).second;
  auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(&expr);
  const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(&expr);
  const bool assigns = binary != nullptr && binary->isAssignmentOp();
  if (assigns || (unary != nullptr && unary->isIncrementDecrementOp())) {
    const std::optional<std::string> yields = yielding_text(expr);
    if (assigns && !binary->isCompoundAssignmentOp()) {
      if (first) assignment(*binary);
    } else {
      const Target target = target_of(assigns ? *binary->getLHS() : *unary->getSubExpr());
      if (first) expression_parts(expr, Use::kValue);
      assigns ? compound_assignment(slot, target) : increment(slot, target, use);
    }
    if (yields) slot = yielding(llvm::cast<clang::Expr>(slot), *yields);
    return;
  }
  const auto* const cast = llvm::dyn_cast<clang::ImplicitCastExpr>(&expr);
  const bool reads = cast != nullptr && cast->getCastKind() == clang::CK_LValueToRValue;
  const std::optional<std::string> shared = reads ? shared_text(*cast->getSubExpr()) : std::nullopt;
  if (first) expression_parts(expr, use);
  if (shared) slot = accessed(&expr, *shared, false);
}

void Planter::condition(clang::Stmt*& top) {
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
  if (logic != nullptr && logic->isLogicalOp()) return expression(*slot, Use::kValue);

  const clang::QualType type = expr.getType();
  bool constant = false;
  const bool folded = expr.EvaluateAsBooleanCondition(constant, planting_.context) &&
                      !expr.HasSideEffects(planting_.context);
  const bool site = on(Scheme::kBranches) && type->isScalarType() && !type->isMemberPointerType() &&
                    !folded && !type->isNullPtrType() && !type->isBlockPointerType();
  const std::string predicate = site ? text(expr) : "";
  expression(*slot, Use::kValue);
  if (!site) return;
  const unsigned mark = add_mark(Scheme::kBranches, {predicate}, planting_.context.BoolTy);
  auto* const value = llvm::cast<clang::Expr>(*slot);
  *slot = builder_.pass(mark, builder_.convert(value, planting_.context.BoolTy));
}

void Planter::object_release(clang::CallExpr& expr) {
  const clang::FunctionDecl* const callee = expr.getDirectCallee();
  if (!on(Scheme::kGObjectUnref) || callee == nullptr || expr.getNumArgs() != 1) return;
  if (callee->getDeclName().getAsString() != "g_object_unref") return;
  if (!expr.getArg(0)->getType()->isPointerType()) return;
  const unsigned mark =
      add_mark(Scheme::kGObjectUnref, {text(*expr.getArg(0)->IgnoreParenImpCasts())},
               expr.getArg(0)->getType());
  expr.setArg(0, builder_.pass(mark, expr.getArg(0)));
}

void Planter::call(clang::Stmt*& slot) {
  auto& expr = *llvm::cast<clang::CallExpr>(slot);
  const clang::QualType type = expr.getType();
  const ValueKind kind = expr.isPRValue() ? value_kind(type, planting_.context) : ValueKind::kNone;
  const clang::FunctionDecl* const callee = expr.getDirectCallee();
  bool site = on(Scheme::kReturns) && kind != ValueKind::kNone && kind != ValueKind::kFloat;
  if (callee != nullptr && callee->isConsteval()) return;
  clang::Expr::EvalResult folded;
  if (site && callee != nullptr && callee->getBuiltinID() != 0 &&
      !planting_.context.BuiltinInfo.isPredefinedLibFunction(callee->getBuiltinID()))
    site =
        !expr.EvaluateAsRValue(folded, planting_.context) || expr.HasSideEffects(planting_.context);
  std::string name;
  if (site) {
    name = normal_ ? normal_->callee(*expr.getCallee())
                   : text(*expr.getCallee()->IgnoreParenImpCasts());
    // Operators and conversions are calls that nobody wrote a name for.
    if (callee != nullptr && (llvm::isa<clang::CXXOperatorCallExpr>(expr) || name.empty() ||
                              llvm::isa<clang::CXXConversionDecl>(callee)))
      name = callee->getNameAsString();
    if (const auto* const op = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&expr);
        op != nullptr && op->getOperator() == clang::OO_Call)
      name = text(*expr.getArg(0)->IgnoreParenImpCasts());
  }
  if (planting_.been_inside.insert(&expr).second) {
    for (clang::Stmt*& child : expr.children()) expression(child, Use::kValue);
    object_release(expr);
  }
  if (site) slot = builder_.pass(add_mark(Scheme::kReturns, {name}, type), &expr);
}

}  // namespace telltale::instrument
