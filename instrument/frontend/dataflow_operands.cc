#include "frontend/dataflow_operands.h"

#include <clang/AST/ExprCXX.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>

#include "analysis/value_kind.h"

namespace telltale::instrument {
namespace {

bool is_plain_struct(clang::QualType type) {
  const clang::RecordDecl* const record = type->getAsRecordDecl();
  return record != nullptr && !record->isUnion() && record->getDefinition() != nullptr;
}

}  // namespace

bool is_discrete(clang::QualType type, const clang::ASTContext& context) {
  if (type->isReferenceType()) return true;  // an address
  const ValueKind kind = value_kind(type, context);
  return kind != ValueKind::kNone && kind != ValueKind::kFloat;
}

const clang::Expr& strip_temporaries(const clang::Expr& expr) {
  const clang::Expr* now = &expr;
  for (const clang::Expr* before = nullptr; now != before;) {
    before = now;
    now = now->IgnoreParens();
    if (const auto* const full = llvm::dyn_cast<clang::FullExpr>(now)) now = full->getSubExpr();
    if (const auto* const made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(now))
      now = made->getSubExpr();
    if (const auto* const bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(now))
      now = bound->getSubExpr();
  }
  return *now;
}

const clang::Expr& strip_casts(const clang::Expr& expr) {
  const clang::Expr* now = &strip_temporaries(expr);
  while (const auto* const cast = llvm::dyn_cast<clang::CastExpr>(now)) {
    if (cast->getCastKind() == clang::CK_ArrayToPointerDecay ||
        cast->getCastKind() == clang::CK_FunctionToPointerDecay)
      return *now;
    now = &strip_temporaries(*cast->getSubExpr());
  }
  return *now;
}

Operands DataflowOperands::of_variable(const clang::VarDecl& variable) const {
  Operands out;
  const bool named = !variable.getName().empty();
  spread(variable.getType(), named ? name_(variable) : kAnything, named, out);
  return out;
}

Operands DataflowOperands::of_place(const clang::Expr& lvalue) const {
  Operands out;
  const clang::Expr& place = strip_temporaries(lvalue);
  const auto* const element = llvm::dyn_cast<clang::ArraySubscriptExpr>(&place);
  const auto* const decay =
      element == nullptr
          ? nullptr
          : llvm::dyn_cast<clang::ImplicitCastExpr>(element->getBase()->IgnoreParens());
  if (decay != nullptr && decay->getCastKind() == clang::CK_ArrayToPointerDecay) {
    spread(lvalue.getType(), kElement, false, out);
    std::fill(out.begin(), out.end(), kElement);
    return out;
  }
  const std::optional<std::string> path = path_of(place);
  spread(lvalue.getType(), path.value_or(kAnything), path.has_value(), out);
  return out;
}

Operands DataflowOperands::of_value(const clang::Expr& expr) const {
  const clang::QualType type = expr.getType();
  const bool discrete = is_discrete(type, context_);
  if (!discrete && !(fields_ && is_plain_struct(type))) return {};
  if (discrete) {
    if (const std::optional<std::string> number = number_of(expr)) return {*number};
  }
  const clang::Expr* value = &strip_casts(expr);
  while (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(value)) {
    if (binary->isAssignmentOp()) {
      value = &strip_casts(*binary->getLHS());
    } else if (binary->getOpcode() == clang::BO_Comma) {
      value = &strip_casts(*binary->getRHS());
    } else {
      break;
    }
  }
  // A trivial copy of a structure is a constructor call in C++.
  if (const auto* const made = llvm::dyn_cast<clang::CXXConstructExpr>(value);
      made != nullptr && made->getNumArgs() == 1 &&
      made->getConstructor()->isCopyOrMoveConstructor())
    value = &strip_casts(*made->getArg(0));
  Operands out;
  if (value->isGLValue() && !type->isReferenceType() && !llvm::isa<clang::CallExpr>(value) &&
      !llvm::isa<clang::StringLiteral>(value) && !value->getType()->isFunctionType() &&
      !value->getType()->isArrayType())
    out = of_place(*value);
  if (discrete && out.size() != 1) return {kAnything};
  if (!discrete && out.empty()) spread(type, kAnything, false, out);
  return out;
}

std::optional<std::string> DataflowOperands::simple(const clang::Expr& expr) const {
  const Operands operands = of_value(expr);
  if (operands.size() != 1 || operands[0] == kAnything || operands[0] == kElement)
    return std::nullopt;
  return operands[0];
}

void DataflowOperands::initialised(const std::string& name, bool direct, clang::QualType type,
                                   const clang::Expr& init, Operands& pairs) const {
  const clang::Expr& value = strip_temporaries(init);
  const auto* const list = llvm::dyn_cast<clang::InitListExpr>(&value);
  if (list != nullptr && list->getNumInits() == 1 && type->isScalarType())
    return initialised(name, direct, type, *list->getInit(0), pairs);
  if (list == nullptr || !type->isAggregateType()) {
    Operands places;
    spread(type, name, direct, places);
    if (name == kElement) std::fill(places.begin(), places.end(), kElement);
    Operands values = llvm::isa<clang::ImplicitValueInitExpr>(value) ? Operands(places.size(), "0")
                                                                     : of_value(init);
    values.resize(places.size(), kAnything);
    for (std::size_t i = 0; i < places.size(); ++i) {
      pairs.push_back(places[i]);
      pairs.push_back(values[i]);
    }
    return;
  }
  if (const auto* const array = context_.getAsArrayType(type)) {
    for (const clang::Expr* const one : list->inits())
      initialised(kElement, false, array->getElementType(), *one, pairs);
    return;
  }
  const clang::RecordDecl* const record = type->getAsRecordDecl();
  if (record == nullptr || record->isUnion()) return;
  unsigned index = llvm::isa<clang::CXXRecordDecl>(record)
                       ? llvm::cast<clang::CXXRecordDecl>(record)->getNumBases()
                       : 0;
  for (const clang::FieldDecl* const field : record->fields()) {
    if (field->isUnnamedBitField()) continue;
    if (index >= list->getNumInits()) return;
    const bool named = fields_ && direct;
    initialised(named ? name + "." + field->getNameAsString() : std::string(kAnything), named,
                field->getType(), *list->getInit(index++), pairs);
  }
}

void DataflowOperands::spread(clang::QualType type, const std::string& name, bool direct,
                              Operands& out) const {
  if (is_discrete(type, context_)) {
    out.push_back(direct ? name : kAnything);
    return;
  }
  if (!fields_ || !is_plain_struct(type)) return;
  for (const clang::FieldDecl* const field : type->getAsRecordDecl()->getDefinition()->fields()) {
    if (!field->isUnnamedBitField())
      spread(field->getType(), name + "." + field->getNameAsString(), direct, out);
  }
}

std::optional<std::string> DataflowOperands::path_of(const clang::Expr& place) const {
  const clang::Expr& bare = strip_temporaries(place);
  if (const auto* const name = llvm::dyn_cast<clang::DeclRefExpr>(&bare)) {
    const auto* const variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    // A lambda's copy is a member; a reference capture is an indirection.
    if (variable == nullptr || variable->getName().empty() ||
        variable->getType()->isReferenceType() || name->refersToEnclosingVariableOrCapture())
      return std::nullopt;
    return name_(*variable);
  }
  if (const auto* const cast = llvm::dyn_cast<clang::ImplicitCastExpr>(&bare);
      cast != nullptr && cast->isGLValue() && cast->getCastKind() == clang::CK_NoOp)
    return path_of(*cast->getSubExpr());
  const auto* const member = llvm::dyn_cast<clang::MemberExpr>(&bare);
  if (member == nullptr) return std::nullopt;
  if (const auto* const variable = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
    return name_(*variable);
  if (!fields_ || member->isArrow() || !is_plain_struct(member->getBase()->getType()) ||
      member->getMemberDecl()->getType()->isReferenceType())
    return std::nullopt;
  const std::optional<std::string> base = path_of(*member->getBase());
  if (!base) return std::nullopt;
  return *base + "." + member->getMemberDecl()->getNameAsString();
}

std::optional<std::string> DataflowOperands::number_of(const clang::Expr& expr) const {
  if (expr.isValueDependent()) return std::nullopt;
  if (expr.getType()->isPointerType()) {
    clang::ASTContext& context = const_cast<clang::ASTContext&>(context_);
    if (expr.isNullPointerConstant(context, clang::Expr::NPC_ValueDependentIsNotNull) !=
        clang::Expr::NPCK_NotNull)
      return "0";
    const clang::Expr& bare = strip_casts(expr);
    return bare.getType()->isIntegerType() ? number_of(bare) : std::nullopt;
  }
  clang::Expr::EvalResult result;
  if (!expr.getType()->isIntegralOrEnumerationType() || expr.isGLValue() ||
      !expr.EvaluateAsInt(result, context_) || expr.HasSideEffects(context_))
    return std::nullopt;
  return llvm::toString(result.Val.getInt(), 10);
}

}  // namespace telltale::instrument
