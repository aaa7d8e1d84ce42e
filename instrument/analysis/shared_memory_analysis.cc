#include "analysis/shared_memory_analysis.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>

#include <algorithm>

#include "analysis/value_kind.h"

namespace telltale::instrument {
namespace {

// The array of an element, unless it is accessed through a pointer.
const clang::Expr* array_of(const clang::ArraySubscriptExpr& element) {
  const auto* const decay =
      llvm::dyn_cast<clang::ImplicitCastExpr>(element.getBase()->IgnoreParens());
  if (decay == nullptr || decay->getCastKind() != clang::CK_ArrayToPointerDecay) return nullptr;
  return decay->getSubExpr();
}

bool forwards_lvalue(const clang::Stmt& statement) {
  if (llvm::isa<clang::ParenExpr>(statement) || llvm::isa<clang::ConditionalOperator>(statement))
    return true;
  const auto* const cast = llvm::dyn_cast<clang::CastExpr>(&statement);
  return cast != nullptr && cast->isGLValue();
}

bool is_read(const clang::Stmt& statement) {
  const auto* const cast = llvm::dyn_cast<clang::CastExpr>(&statement);
  return cast != nullptr && (cast->getCastKind() == clang::CK_LValueToRValue ||
                             cast->getCastKind() == clang::CK_ToVoid);
}

// C++ binds a reference to the source of a trivial copy, where C reads it.
bool is_plain_copy(const clang::Stmt& statement) {
  if (const auto* const made = llvm::dyn_cast<clang::CXXConstructExpr>(&statement))
    return made->getConstructor()->isCopyOrMoveConstructor() && made->getConstructor()->isTrivial();
  const auto* const call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&statement);
  if (call == nullptr || call->getOperator() != clang::OO_Equal) return false;
  const clang::FunctionDecl* const callee = call->getDirectCallee();
  return callee != nullptr && callee->isTrivial();
}

bool is_unevaluated(const clang::Stmt& statement) {
  return llvm::isa<clang::UnaryExprOrTypeTraitExpr>(statement) ||
         llvm::isa<clang::CXXNoexceptExpr>(statement) || llvm::isa<clang::OffsetOfExpr>(statement);
}

bool is_thread_local(const clang::VarDecl& variable) {
  return variable.getTLSKind() != clang::VarDecl::TLS_None;
}

bool is_discrete(clang::QualType type, const clang::ASTContext& context) {
  const ValueKind kind = value_kind(type, context);
  return kind != ValueKind::kNone && kind != ValueKind::kFloat;
}

}  // namespace

SharedMemoryAnalysis::SharedMemoryAnalysis(const clang::FunctionDecl& function) {
  if (const auto* const made = llvm::dyn_cast<clang::CXXConstructorDecl>(&function)) {
    for (const clang::CXXCtorInitializer* const initialiser : made->inits())
      visit(initialiser->getInit(), false);
  }
  visit(function.getBody(), false);
}

std::size_t SharedMemoryAnalysis::push_private(
    const std::vector<const clang::VarDecl*>& variables) {
  const std::size_t before = private_.size();
  private_.insert(private_.end(), variables.begin(), variables.end());
  return before;
}

bool SharedMemoryAnalysis::is_private(const clang::VarDecl& variable) const {
  return std::find(private_.begin(), private_.end(), &variable) != private_.end();
}

void SharedMemoryAnalysis::visit(const clang::Stmt* statement, bool lvalue_only) {
  if (statement == nullptr || is_unevaluated(*statement)) return;
  if (const auto* const name = llvm::dyn_cast<clang::DeclRefExpr>(statement)) {
    const auto* const variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    if (variable != nullptr && !lvalue_only) address_taken_.insert(variable);
    return;
  }
  if (const auto* const lambda = llvm::dyn_cast<clang::LambdaExpr>(statement)) {
    for (const clang::LambdaCapture& capture : lambda->captures()) {
      if (!capture.capturesVariable() || capture.getCaptureKind() != clang::LCK_ByRef) continue;
      if (const auto* const variable = llvm::dyn_cast<clang::VarDecl>(capture.getCapturedVar()))
        address_taken_.insert(variable);
    }
    for (const clang::Expr* const init : lambda->capture_inits()) visit(init, true);
    return;
  }
  if (const auto* const region = llvm::dyn_cast<clang::CapturedStmt>(statement))
    return visit(region->getCapturedStmt(), false);
  if (const auto* const member = llvm::dyn_cast<clang::MemberExpr>(statement))
    return visit(member->getBase(), lvalue_only);
  if (const auto* const element = llvm::dyn_cast<clang::ArraySubscriptExpr>(statement)) {
    const clang::Expr* const array = array_of(*element);
    visit(array != nullptr ? array : element->getBase(), array != nullptr && lvalue_only);
    return visit(element->getIdx(), false);
  }
  if (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(statement);
      binary != nullptr && (binary->isAssignmentOp() || binary->getOpcode() == clang::BO_Comma)) {
    visit(binary->getLHS(), true);
    return visit(binary->getRHS(), binary->getOpcode() == clang::BO_Comma && lvalue_only);
  }
  if (const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(statement);
      unary != nullptr && unary->isIncrementDecrementOp())
    return visit(unary->getSubExpr(), true);
  const bool harmless = is_read(*statement) || is_plain_copy(*statement) ||
                        llvm::isa<clang::GCCAsmStmt>(statement) ||
                        (forwards_lvalue(*statement) && lvalue_only);
  for (const clang::Stmt* const child : statement->children()) visit(child, harmless);
}

bool SharedMemoryAnalysis::is_shared(const clang::VarDecl& local,
                                     const clang::ASTContext& context) const {
  return local.hasLocalStorage() && address_taken_.contains(&local) &&
         is_discrete(local.getType(), context) && !local.getType().isConstQualified();
}

bool SharedMemoryAnalysis::is_shared(const clang::Expr& lvalue,
                                     const clang::ASTContext& context) const {
  if (!lvalue.isGLValue() || lvalue.refersToBitField()) return false;
  if (!is_discrete(lvalue.getType(), context) || lvalue.getType().isConstQualified()) return false;
  return is_shared_object(lvalue);
}

// Follows members and elements to the object that contains the lvalue.
bool SharedMemoryAnalysis::is_shared_object(const clang::Expr& lvalue) const {
  const clang::Expr& bare = *lvalue.IgnoreParens();
  if (const auto* const member = llvm::dyn_cast<clang::MemberExpr>(&bare)) {
    if (const auto* const variable = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
      return !is_thread_local(*variable);
    return member->isArrow() || member->getMemberDecl()->getType()->isReferenceType() ||
           is_shared_object(*member->getBase());
  }
  if (const auto* const element = llvm::dyn_cast<clang::ArraySubscriptExpr>(&bare)) {
    const clang::Expr* const array = array_of(*element);
    return array == nullptr || is_shared_object(*array);
  }
  if (const auto* const name = llvm::dyn_cast<clang::DeclRefExpr>(&bare))
    return is_shared_variable(*name);
  if (const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(&bare)) {
    return unary->isIncrementDecrementOp() ? is_shared_object(*unary->getSubExpr())
                                           : unary->getOpcode() == clang::UO_Deref;
  }
  if (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(&bare))
    return is_shared_object(binary->isAssignmentOp() ? *binary->getLHS() : *binary->getRHS());
  if (const auto* const cast = llvm::dyn_cast<clang::CastExpr>(&bare);
      cast != nullptr && cast->isGLValue())
    return is_shared_object(*cast->getSubExpr());
  // A call that returns a reference may return any object. Temporaries are not shared.
  return llvm::isa<clang::CallExpr>(bare) || llvm::isa<clang::ConditionalOperator>(bare);
}

bool SharedMemoryAnalysis::is_shared_variable(const clang::DeclRefExpr& name) const {
  const auto* const variable = llvm::dyn_cast<clang::VarDecl>(name.getDecl());
  if (variable == nullptr) return false;
  if (variable->getType()->isReferenceType()) return true;
  if (variable->hasGlobalStorage()) return !is_thread_local(*variable);
  return (name.refersToEnclosingVariableOrCapture() && !is_private(*variable)) ||
         address_taken_.contains(variable);
}

bool SharedMemoryAnalysis::is_accessed_by(const clang::Stmt& statement,
                                          const clang::ASTContext& context) const {
  const clang::Expr* target = nullptr;
  if (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(&statement)) {
    if (binary->isAssignmentOp()) target = binary->getLHS();
  } else if (const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(&statement)) {
    if (unary->isIncrementDecrementOp()) target = unary->getSubExpr();
  }
  if (target != nullptr && is_shared(*target, context)) return true;
  std::vector<const clang::Stmt*> left{&statement};
  while (!left.empty()) {
    const clang::Stmt* const one = left.back();
    left.pop_back();
    if (one == nullptr || is_unevaluated(*one)) continue;
    if (const auto* const cast = llvm::dyn_cast<clang::CastExpr>(one);
        cast != nullptr && cast->getCastKind() == clang::CK_LValueToRValue &&
        is_shared(*cast->getSubExpr(), context))
      return true;
    const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(one);
    const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(one);
    const bool is_other =
        one != &statement && ((binary != nullptr && binary->isAssignmentOp()) ||
                              (unary != nullptr && unary->isIncrementDecrementOp()));
    if (is_other || llvm::isa<clang::CallExpr>(one) || llvm::isa<clang::LambdaExpr>(one)) continue;
    for (const clang::Stmt* const child : one->children()) left.push_back(child);
  }
  return false;
}

}  // namespace telltale::instrument
