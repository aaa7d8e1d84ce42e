// Accesses to shared memory, assignments that read what they write, and what members begin with.
#include "frontend/site_inserter.h"

namespace telltale::instrument {
namespace {

constexpr std::array<Scheme, 4> kAccessSchemes = {Scheme::kData, Scheme::kAtoms,
                                                  Scheme::kCompareSwap, Scheme::kAtomsRw};

}  // namespace

std::optional<std::string> Planter::shared_text(const clang::Expr& lvalue) const {
  if (!shared_) return std::nullopt;
  bool any = false;
  for (const Scheme scheme : kAccessSchemes) any = any || on(scheme);
  if (!any || !shared_->is_shared(lvalue, planting_.context)) return std::nullopt;
  return text(lvalue);
}

clang::Expr* Planter::accessed(clang::Expr* value, const std::string& lvalue, bool is_write) {
  if (value_kind(value->getType(), planting_.context) == ValueKind::kNone) return value;
  for (const Scheme scheme : kAccessSchemes) {
    if (!on(scheme)) continue;
    const std::vector<std::string> fields{lvalue, is_write ? "write" : "read"};
    Mark mark;
    mark.scheme = scheme;
    mark.is_write = is_write;
    mark.sites.push_back(add_site(scheme, fields, value->getType()));
    // The others count accesses of known history a second time.
    if (scheme != Scheme::kData) mark.also.push_back(add_site(scheme, fields, value->getType()));
    value = builder_.pass(finish_mark(std::move(mark)), value);
  }
  return value;
}

std::optional<std::string> Planter::yielding_text(const clang::Expr& assignment) const {
  if (!shared_ || !on(Scheme::kYields) || !shared_->is_touched_by(assignment, planting_.context))
    return std::nullopt;
  return text(assignment);
}

clang::Expr* Planter::yielding(clang::Expr* assignment, const std::string& what) {
  const clang::QualType type = assignment->getType();
  if (assignment->isPRValue()) {
    if (value_kind(type, planting_.context) == ValueKind::kNone) return assignment;
    return builder_.pass(add_mark(Scheme::kYields, {what}, type), assignment);
  }
  // Through the address, so that what was assigned to is not read again. A bit-field has none.
  if (assignment->refersToBitField()) return assignment;
  clang::Expr* const address = builder_.address(assignment, planting_.context.getPointerType(type));
  return builder_.follow(
      builder_.pass(add_mark(Scheme::kYields, {what}, address->getType()), address), type);
}

// What an assignment does to its target, before anything is planted in it.
Planter::Target Planter::target_of(const clang::Expr& lvalue) const {
  return {left_side(lvalue), shared_text(lvalue)};
}

// The value that will be stored, seen by all schemes that look at assignments.
clang::Expr* Planter::stored(clang::Expr* value, const Target& target, const void* place) {
  if (target.left) value = observed(value, *target.left, place);
  if (target.shared) value = accessed(value, *target.shared, true);
  return value;
}

clang::Expr* Planter::loaded(clang::Expr* lvalue, const Target& target) {
  clang::Expr* const value = builder_.load(lvalue);
  return target.shared ? accessed(value, *target.shared, false) : value;
}

// `x op= e` becomes `x = (T)(x op e)`, where e is evaluated first and then what x is, once each.
void Planter::compound_assignment(clang::Stmt*& slot, const Target& target) {
  auto& expr = *llvm::cast<clang::CompoundAssignOperator>(slot);
  const clang::QualType type = expr.getLHS()->getType();
  if ((!target.left && !target.shared) || value_kind(type, planting_.context) == ValueKind::kNone ||
      value_kind(expr.getComputationResultType(), planting_.context) == ValueKind::kNone ||
      value_kind(expr.getRHS()->getType(), planting_.context) == ValueKind::kNone)
    return;
  clang::OpaqueValueExpr* const right = builder_.once(expr.getRHS());
  clang::OpaqueValueExpr* const place = builder_.once(expr.getLHS());
  clang::Expr* const old = builder_.convert(loaded(place, target), expr.getComputationLHSType());
  clang::Expr* const result = clang::BinaryOperator::Create(
      planting_.context, old, right,
      clang::BinaryOperator::getOpForCompoundAssignment(expr.getOpcode()),
      expr.getComputationResultType(), clang::VK_PRValue, clang::OK_Ordinary, expr.getOperatorLoc(),
      expr.hasStoredFPFeatures() ? expr.getStoredFPFeatures() : clang::FPOptionsOverride());
  const std::size_t before = planting_.unit.marks.size();
  clang::Expr* const value = stored(builder_.convert(result, type), target, &expr);
  if (planting_.unit.marks.size() == before && !target.shared) return;
  slot = builder_.in_order(&expr, {right, place, builder_.assign(place, value)}, 2);
}

// `x++` becomes `x = (T)(x + 1)`, and its value is the old or the new one, as it was.
void Planter::increment(clang::Stmt*& slot, const Target& target, Use use) {
  auto& expr = *llvm::cast<clang::UnaryOperator>(slot);
  const clang::QualType type = expr.getSubExpr()->getType();
  const ValueKind kind = value_kind(type, planting_.context);
  if ((!target.left && !target.shared) || kind == ValueKind::kNone) return;
  clang::QualType computed = type.getUnqualifiedType();
  if (planting_.context.isPromotableIntegerType(computed))
    computed = planting_.context.getPromotedIntegerType(computed);
  clang::Expr* by = builder_.one(expr.getBeginLoc());
  if (kind != ValueKind::kPointer) by = builder_.convert(by, computed);
  clang::OpaqueValueExpr* const place = builder_.once(expr.getSubExpr());
  clang::OpaqueValueExpr* const old = builder_.once(loaded(place, target));
  clang::Expr* const result = builder_.binary(expr.isIncrementOp() ? clang::BO_Add : clang::BO_Sub,
                                              builder_.convert(old, computed), by, computed);
  const std::size_t before = planting_.unit.marks.size();
  clang::Expr* const value = stored(builder_.convert(result, type), target, &expr);
  if (planting_.unit.marks.size() == before && !target.shared) return;
  const bool wants_old = expr.isPostfix() && use == Use::kValue;
  slot = builder_.in_order(&expr, {place, old, builder_.assign(place, value)}, wants_old ? 1 : 2);
}

// An initialiser's expression cannot be exchanged, the initialiser can.
void Planter::member_initialisers(clang::CXXConstructorDecl& constructor) {
  clang::ASTContext& context = planting_.context;
  for (clang::CXXCtorInitializer*& initialiser : constructor.inits()) {
    if (!initialiser->isWritten() && !llvm::isa<clang::CXXDefaultInitExpr>(initialiser->getInit()))
      continue;
    if (initialiser->isPackExpansion()) continue;
    at(initialiser->getSourceLocation());
    clang::Stmt* slot = initialiser->getInit();
    expression(slot, Use::kValue);
    if (slot == initialiser->getInit()) continue;
    auto* const value = llvm::cast<clang::Expr>(slot);
    const clang::SourceLocation left = initialiser->getLParenLoc();
    const clang::SourceLocation right = initialiser->getRParenLoc();
    clang::CXXCtorInitializer* made = nullptr;
    if (initialiser->isMemberInitializer()) {
      made = new (context) clang::CXXCtorInitializer(
          context, initialiser->getMember(), initialiser->getMemberLocation(), left, value, right);
    } else if (initialiser->isIndirectMemberInitializer()) {
      made = new (context)
          clang::CXXCtorInitializer(context, initialiser->getIndirectMember(),
                                    initialiser->getMemberLocation(), left, value, right);
    } else {
      continue;  // bases are no numbers
    }
    if (initialiser->isWritten()) made->setSourceOrder(initialiser->getSourceOrder());
    initialiser = made;
  }
}

}  // namespace telltale::instrument
