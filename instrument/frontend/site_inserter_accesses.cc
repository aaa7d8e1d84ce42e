// Accesses to shared memory, compound assignments and increments, and member initialisers.
#include "frontend/site_inserter.h"

namespace telltale::instrument {
namespace {

constexpr std::array<Scheme, 4> kAccessSchemes = {Scheme::kData, Scheme::kAtoms,
                                                  Scheme::kCompareSwap, Scheme::kAtomsRw};

}  // namespace

std::optional<std::string> SiteInserter::shared_lvalue_text(const clang::Expr& lvalue) const {
  if (!shared_memory_) return std::nullopt;
  bool any = false;
  for (const Scheme scheme : kAccessSchemes) any = any || is_enabled(scheme);
  if (!any || !shared_memory_->is_shared(lvalue, state_.context)) return std::nullopt;
  return text(lvalue);
}

clang::Expr* SiteInserter::add_access_marks(clang::Expr* value, const std::string& lvalue,
                                            bool is_write) {
  if (value_kind(value->getType(), state_.context) == ValueKind::kNone) return value;
  for (const Scheme scheme : kAccessSchemes) {
    if (!is_enabled(scheme)) continue;
    const std::vector<std::string> fields{lvalue, is_write ? "write" : "read"};
    Mark mark;
    mark.scheme = scheme;
    mark.is_write = is_write;
    mark.sites.push_back(add_site(scheme, fields, value->getType()));
    // The others have a second row for accesses with a known predecessor.
    if (scheme != Scheme::kData)
      mark.uncounted_sites.push_back(add_site(scheme, fields, value->getType()));
    value = builder_.forward(finish_mark(std::move(mark)), value);
  }
  return value;
}

std::optional<std::string> SiteInserter::yield_site_text(const clang::Expr& assignment) const {
  if (!shared_memory_ || !is_enabled(Scheme::kYields) ||
      !shared_memory_->is_accessed_by(assignment, state_.context))
    return std::nullopt;
  return text(assignment);
}

clang::Expr* SiteInserter::add_yield_mark(clang::Expr* assignment, const std::string& what) {
  const clang::QualType type = assignment->getType();
  if (assignment->isPRValue()) {
    if (value_kind(type, state_.context) == ValueKind::kNone) return assignment;
    return builder_.forward(add_mark(Scheme::kYields, {what}, type), assignment);
  }
  // Marks the address, so that the assigned object is not read again. A bit-field has no address.
  if (assignment->refersToBitField()) return assignment;
  clang::Expr* const address = builder_.address_of(assignment, state_.context.getPointerType(type));
  return builder_.dereference(
      builder_.forward(add_mark(Scheme::kYields, {what}, address->getType()), address), type);
}

SiteInserter::Target SiteInserter::store_target(const clang::Expr& lvalue) const {
  return {assigned_lvalue(lvalue), shared_lvalue_text(lvalue)};
}

clang::Expr* SiteInserter::add_store_marks(clang::Expr* value, const Target& target,
                                           const void* place) {
  if (target.left) value = add_assignment_marks(value, *target.left, place);
  if (target.shared) value = add_access_marks(value, *target.shared, true);
  return value;
}

clang::Expr* SiteInserter::load_with_mark(clang::Expr* lvalue, const Target& target) {
  clang::Expr* const value = builder_.load(lvalue);
  return target.shared ? add_access_marks(value, *target.shared, false) : value;
}

// `x op= e` becomes `x = (T)(x op e)`. e is evaluated first, then the lvalue x, once each.
void SiteInserter::lower_compound_assignment(clang::Stmt*& slot, const Target& target) {
  auto& expr = *llvm::cast<clang::CompoundAssignOperator>(slot);
  const clang::QualType type = expr.getLHS()->getType();
  if ((!target.left && !target.shared) || value_kind(type, state_.context) == ValueKind::kNone ||
      value_kind(expr.getComputationResultType(), state_.context) == ValueKind::kNone ||
      value_kind(expr.getRHS()->getType(), state_.context) == ValueKind::kNone)
    return;
  clang::OpaqueValueExpr* const right = builder_.evaluate_once(expr.getRHS());
  clang::OpaqueValueExpr* const place = builder_.evaluate_once(expr.getLHS());
  clang::Expr* const old =
      builder_.convert(load_with_mark(place, target), expr.getComputationLHSType());
  clang::Expr* const result = clang::BinaryOperator::Create(
      state_.context, old, right,
      clang::BinaryOperator::getOpForCompoundAssignment(expr.getOpcode()),
      expr.getComputationResultType(), clang::VK_PRValue, clang::OK_Ordinary, expr.getOperatorLoc(),
      expr.hasStoredFPFeatures() ? expr.getStoredFPFeatures() : clang::FPOptionsOverride());
  const std::size_t before = state_.unit.marks.size();
  clang::Expr* const value = add_store_marks(builder_.convert(result, type), target, &expr);
  if (state_.unit.marks.size() == before && !target.shared) return;
  slot = builder_.sequence(&expr, {right, place, builder_.assign(place, value)}, 2);
}

// `x++` becomes `x = (T)(x + 1)`; its value is the old or the new one.
void SiteInserter::lower_increment(clang::Stmt*& slot, const Target& target, Use use) {
  auto& expr = *llvm::cast<clang::UnaryOperator>(slot);
  const clang::QualType type = expr.getSubExpr()->getType();
  const ValueKind kind = value_kind(type, state_.context);
  if ((!target.left && !target.shared) || kind == ValueKind::kNone) return;
  clang::QualType computed = type.getUnqualifiedType();
  if (state_.context.isPromotableIntegerType(computed))
    computed = state_.context.getPromotedIntegerType(computed);
  clang::Expr* by = builder_.literal_one(expr.getBeginLoc());
  if (kind != ValueKind::kPointer) by = builder_.convert(by, computed);
  clang::OpaqueValueExpr* const place = builder_.evaluate_once(expr.getSubExpr());
  clang::OpaqueValueExpr* const old = builder_.evaluate_once(load_with_mark(place, target));
  clang::Expr* const result = builder_.binary(expr.isIncrementOp() ? clang::BO_Add : clang::BO_Sub,
                                              builder_.convert(old, computed), by, computed);
  const std::size_t before = state_.unit.marks.size();
  clang::Expr* const value = add_store_marks(builder_.convert(result, type), target, &expr);
  if (state_.unit.marks.size() == before && !target.shared) return;
  const bool wants_old = expr.isPostfix() && use == Use::kValue;
  slot = builder_.sequence(&expr, {place, old, builder_.assign(place, value)}, wants_old ? 1 : 2);
}

// A CXXCtorInitializer's expression cannot be replaced, so the initialiser is.
void SiteInserter::instrument_member_initialisers(clang::CXXConstructorDecl& constructor) {
  clang::ASTContext& context = state_.context;
  for (clang::CXXCtorInitializer*& initialiser : constructor.inits()) {
    if (!initialiser->isWritten() && !llvm::isa<clang::CXXDefaultInitExpr>(initialiser->getInit()))
      continue;
    if (initialiser->isPackExpansion()) continue;
    set_location(initialiser->getSourceLocation());
    clang::Stmt* slot = initialiser->getInit();
    instrument_expression(slot, Use::kValue);
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
      continue;  // a base
    }
    if (initialiser->isWritten()) made->setSourceOrder(initialiser->getSourceOrder());
    initialiser = made;
  }
}

}  // namespace telltale::instrument
