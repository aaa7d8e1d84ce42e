#include "frontend/mark_builder.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>

namespace telltale::instrument {
namespace {

using clang::CastKind;

CastKind scalar_cast(clang::QualType from, clang::QualType to) {
  if (to->isBooleanType()) {
    if (from->isBooleanType()) return clang::CK_NoOp;
    if (from->isAnyPointerType() || from->isNullPtrType()) return clang::CK_PointerToBoolean;
    return from->isRealFloatingType() ? clang::CK_FloatingToBoolean : clang::CK_IntegralToBoolean;
  }
  if (to->isRealFloatingType())
    return from->isRealFloatingType() ? clang::CK_FloatingCast : clang::CK_IntegralToFloating;
  if (from->isRealFloatingType()) return clang::CK_FloatingToIntegral;
  return to->isAnyPointerType() ? clang::CK_BitCast : clang::CK_IntegralCast;
}

}  // namespace

// One function for each type of value, with C linkage, so that its name is its symbol.
clang::FunctionDecl* MarkBuilder::function_for(clang::QualType type) {
  clang::FunctionDecl*& known = functions_[type.getTypePtr()];
  if (known != nullptr) return known;
  clang::TranslationUnitDecl* const top = context_.getTranslationUnitDecl();
  clang::DeclContext* scope = top;
  if (context_.getLangOpts().CPlusPlus) {
    scope = clang::LinkageSpecDecl::Create(context_, top, {}, {}, clang::LinkageSpecLanguageIDs::C,
                                           false);
  }
  clang::FunctionProtoType::ExtProtoInfo info;
  info.Variadic = true;
  if (context_.getLangOpts().CPlusPlus) info.ExceptionSpec.Type = clang::EST_BasicNoexcept;
  llvm::SmallVector<clang::QualType, 2> parameters{context_.UnsignedIntTy};
  if (!type->isVoidType()) parameters.push_back(type);
  const clang::QualType function_type = context_.getFunctionType(type, parameters, info);
  const std::string name = kMarkPrefix + std::to_string(functions_.size());
  known = clang::FunctionDecl::Create(context_, scope, {}, {}, &context_.Idents.get(name),
                                      function_type, nullptr, clang::SC_Extern);
  llvm::SmallVector<clang::ParmVarDecl*, 2> declared;
  for (const clang::QualType parameter : parameters) {
    declared.push_back(clang::ParmVarDecl::Create(context_, known, {}, {}, nullptr, parameter,
                                                  nullptr, clang::SC_None, nullptr));
  }
  known->setParams(declared);
  known->setImplicit();
  known->addAttr(clang::NoThrowAttr::CreateImplicit(context_));
  known->addAttr(clang::NoDebugAttr::CreateImplicit(context_));
  return known;
}

clang::Expr* MarkBuilder::forward(unsigned mark, clang::Expr* value,
                                  const std::vector<clang::VarDecl*>& variables) {
  const clang::SourceLocation location = value->getBeginLoc();
  const clang::QualType type = value->getType().getCanonicalType().getUnqualifiedType();
  clang::FunctionDecl* const function = function_for(type);
  clang::Expr* const callee = clang::ImplicitCastExpr::Create(
      context_, context_.getPointerType(function->getType()), clang::CK_FunctionToPointerDecay,
      clang::DeclRefExpr::Create(context_, {}, {}, function, false, location, function->getType(),
                                 clang::VK_LValue),
      nullptr, clang::VK_PRValue, {});
  llvm::SmallVector<clang::Expr*, 8> arguments{
      clang::IntegerLiteral::Create(context_,
                                    llvm::APInt(context_.getIntWidth(context_.UnsignedIntTy), mark),
                                    context_.UnsignedIntTy, location),
      value};
  for (clang::VarDecl* const variable : variables) {
    clang::Expr* const name = reference(variable, location);
    arguments.push_back(address_of(name, context_.getPointerType(name->getType())));
  }
  return clang::CallExpr::Create(context_, callee, arguments, value->getType().getUnqualifiedType(),
                                 clang::VK_PRValue, location, {});
}

clang::Expr* MarkBuilder::marker(unsigned mark, clang::SourceLocation location) {
  clang::FunctionDecl* const function = function_for(context_.VoidTy);
  clang::Expr* const callee = clang::ImplicitCastExpr::Create(
      context_, context_.getPointerType(function->getType()), clang::CK_FunctionToPointerDecay,
      clang::DeclRefExpr::Create(context_, {}, {}, function, false, location, function->getType(),
                                 clang::VK_LValue),
      nullptr, clang::VK_PRValue, {});
  clang::Expr* const number = clang::IntegerLiteral::Create(
      context_, llvm::APInt(context_.getIntWidth(context_.UnsignedIntTy), mark),
      context_.UnsignedIntTy, location);
  return clang::CallExpr::Create(context_, callee, {number}, context_.VoidTy, clang::VK_PRValue,
                                 location, {});
}

clang::Expr* MarkBuilder::convert(clang::Expr* value, clang::QualType to) {
  const clang::QualType from = value->getType();
  if (context_.hasSameUnqualifiedType(from, to)) return value;
  return clang::ImplicitCastExpr::Create(context_, to.getUnqualifiedType(), scalar_cast(from, to),
                                         value, nullptr, clang::VK_PRValue, {});
}

clang::Expr* MarkBuilder::load(clang::Expr* lvalue) {
  return clang::ImplicitCastExpr::Create(context_, lvalue->getType().getUnqualifiedType(),
                                         clang::CK_LValueToRValue, lvalue, nullptr,
                                         clang::VK_PRValue, {});
}

clang::Expr* MarkBuilder::reference(clang::VarDecl* variable, clang::SourceLocation location) {
  return clang::DeclRefExpr::Create(context_, {}, {}, variable, false, location,
                                    variable->getType().getNonReferenceType(), clang::VK_LValue);
}

clang::Expr* MarkBuilder::assign(clang::Expr* lvalue, clang::Expr* value) {
  const bool cxx = context_.getLangOpts().CPlusPlus;
  return clang::BinaryOperator::Create(
      context_, lvalue, value, clang::BO_Assign,
      cxx ? lvalue->getType() : lvalue->getType().getUnqualifiedType(),
      cxx ? clang::VK_LValue : clang::VK_PRValue, clang::OK_Ordinary, lvalue->getBeginLoc(), {});
}

clang::Expr* MarkBuilder::binary(clang::BinaryOperatorKind operation, clang::Expr* left,
                                 clang::Expr* right, clang::QualType type) {
  return clang::BinaryOperator::Create(context_, left, right, operation, type, clang::VK_PRValue,
                                       clang::OK_Ordinary, left->getBeginLoc(), {});
}

clang::Expr* MarkBuilder::address_of(clang::Expr* lvalue, clang::QualType pointer) {
  return clang::UnaryOperator::Create(context_, lvalue, clang::UO_AddrOf, pointer,
                                      clang::VK_PRValue, clang::OK_Ordinary, lvalue->getBeginLoc(),
                                      false, {});
}

clang::Expr* MarkBuilder::dereference(clang::Expr* pointer, clang::QualType type) {
  return clang::UnaryOperator::Create(context_, pointer, clang::UO_Deref, type, clang::VK_LValue,
                                      clang::OK_Ordinary, pointer->getBeginLoc(), false, {});
}

// Clang's analyses at the end of a unit look into an OpaqueValueExpr and would repeat the warnings
// for `instead_of`. They do not look through two of them.
clang::OpaqueValueExpr* MarkBuilder::evaluate_once(clang::Expr* expr) {
  const auto wrapped = [this](clang::Expr* one) {
    return new (context_) clang::OpaqueValueExpr(one->getBeginLoc(), one->getType(),
                                                 one->getValueKind(), one->getObjectKind(), one);
  };
  clang::OpaqueValueExpr* const hidden = wrapped(expr);
  hidden->setIsUnique(true);  // clang does not store its value
  return wrapped(hidden);
}

clang::Expr* MarkBuilder::sequence(clang::Expr* instead_of, llvm::ArrayRef<clang::Expr*> steps,
                                   unsigned result) {
  llvm::SmallVector<clang::Expr*, 4> once_each;
  for (clang::Expr* const step : steps)
    once_each.push_back(llvm::isa<clang::OpaqueValueExpr>(step) ? step : evaluate_once(step));
  return clang::PseudoObjectExpr::Create(context_, instead_of, once_each, result);
}

clang::Expr* MarkBuilder::literal_one(clang::SourceLocation location) {
  return clang::IntegerLiteral::Create(
      context_, llvm::APInt(context_.getIntWidth(context_.IntTy), 1), context_.IntTy, location);
}

}  // namespace telltale::instrument
