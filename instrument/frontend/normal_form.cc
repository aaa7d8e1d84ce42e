#include "frontend/normal_form.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <map>

#include "frontend/source_text.h"
#include "translation_unit.h"

namespace telltale::instrument {
namespace {

// The precedence of C's operators.
constexpr int kPrimary = 0;
constexpr int kUnary = 2;

int binds(clang::BinaryOperatorKind kind) {
  switch (kind) {
    case clang::BO_Mul:
    case clang::BO_Div:
    case clang::BO_Rem:
      return 3;
    case clang::BO_Add:
    case clang::BO_Sub:
      return 4;
    case clang::BO_Shl:
    case clang::BO_Shr:
      return 5;
    case clang::BO_LT:
    case clang::BO_GT:
    case clang::BO_LE:
    case clang::BO_GE:
      return 6;
    case clang::BO_EQ:
    case clang::BO_NE:
      return 7;
    case clang::BO_And:
      return 8;
    case clang::BO_Xor:
      return 9;
    default:
      return 10;
  }
}

void number_locals(const clang::Stmt* statement, std::map<std::string, unsigned>& seen,
                   llvm::DenseMap<const clang::VarDecl*, unsigned>& repeats,
                   std::vector<const clang::VarDecl*>& locals) {
  if (statement == nullptr || llvm::isa<clang::LambdaExpr>(statement)) return;
  if (const auto* const declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl* const decl : declaration->decls()) {
      const auto* const variable = llvm::dyn_cast<clang::VarDecl>(decl);
      if (variable == nullptr || variable->hasExternalStorage()) continue;
      repeats[variable] = seen[variable->getNameAsString()]++;
      locals.push_back(variable);
    }
  }
  if (const auto* const handler = llvm::dyn_cast<clang::CXXCatchStmt>(statement);
      handler != nullptr && handler->getExceptionDecl() != nullptr) {
    repeats[handler->getExceptionDecl()] = seen[handler->getExceptionDecl()->getNameAsString()]++;
    locals.push_back(handler->getExceptionDecl());
  }
  for (const clang::Stmt* const child : statement->children())
    number_locals(child, seen, repeats, locals);
}

std::string numbered(const std::string& name, unsigned repeat) {
  return repeat == 0 ? name : name + "___" + std::to_string(repeat - 1);
}

const char* suffix_of(clang::QualType type) {
  const auto* const builtin = type->getAs<clang::BuiltinType>();
  switch (builtin == nullptr ? clang::BuiltinType::Int : builtin->getKind()) {
    case clang::BuiltinType::UInt:
      return "U";
    case clang::BuiltinType::Long:
      return "L";
    case clang::BuiltinType::ULong:
      return "UL";
    case clang::BuiltinType::LongLong:
      return "LL";
    case clang::BuiltinType::ULongLong:
      return "ULL";
    default:
      return "";
  }
}

// The operand of a pointer comparison before the conversion to the other side's type.
const clang::Expr* as_compared(const clang::Expr& expr) {
  const auto* const cast = llvm::dyn_cast<clang::ImplicitCastExpr>(expr.IgnoreParens());
  if (cast == nullptr || !cast->getSubExpr()->getType()->isPointerType()) return &expr;
  const clang::CastKind kind = cast->getCastKind();
  return kind == clang::CK_BitCast || kind == clang::CK_NullToPointer ? cast->getSubExpr() : &expr;
}

}  // namespace

NormalForm::NormalForm(const clang::FunctionDecl& function,
                       const std::vector<clang::VarDecl*>& globals)
    : context_(function.getASTContext()) {
  std::map<std::string, unsigned> seen;
  for (const clang::VarDecl* const global : globals) seen[global->getNameAsString()] = 1;
  for (const clang::ParmVarDecl* const formal : function.parameters())
    repeats_[formal] = seen[formal->getNameAsString()]++;
  number_locals(function.getBody(), seen, repeats_, locals_);
}

std::string NormalForm::name(const clang::VarDecl& variable) const {
  const auto repeat = repeats_.find(&variable);
  return numbered(variable.getNameAsString(), repeat == repeats_.end() ? 0 : repeat->second);
}

NormalForm::Printed NormalForm::as_written(const clang::Expr& expr) const {
  return {text_of(expr, context_), kPrimary};
}

NormalForm::Printed NormalForm::temporary(const clang::Expr& expr) {
  const unsigned number = temporaries_.try_emplace(&expr, temporaries_.size()).first->second;
  return {numbered("tmp", number), kPrimary};
}

std::string NormalForm::type_text(clang::QualType type) const {
  const std::string name = text_of_type(type, context_);
  return "(" + name + (name.ends_with("*") ? ")" : " )");
}

std::string NormalForm::operand(const clang::Expr& expr, int most) {
  const Printed printed = print(expr);
  return printed.binds > most ? "(" + printed.text + ")" : printed.text;
}

NormalForm::Printed NormalForm::converted(clang::QualType type, const clang::Expr& expr) {
  return {type_text(type) + operand(expr, kPrimary), kUnary};
}

NormalForm::Printed NormalForm::print_cast(const clang::CastExpr& cast) {
  const clang::Expr& inner = *cast.getSubExpr();
  switch (cast.getCastKind()) {
    case clang::CK_IntegralCast:
    case clang::CK_IntegralToFloating:
    case clang::CK_FloatingToIntegral:
    case clang::CK_FloatingCast:
    case clang::CK_BitCast:
    case clang::CK_IntegralToPointer:
    case clang::CK_PointerToIntegral:
    case clang::CK_NullToPointer:
    case clang::CK_ToVoid:
      break;
    default:
      return llvm::isa<clang::ExplicitCastExpr>(cast) ? converted(cast.getType(), inner)
                                                      : print(inner);
  }
  const auto* const number = llvm::dyn_cast<clang::IntegerLiteral>(inner.IgnoreParens());
  if (number != nullptr && llvm::isa<clang::ImplicitCastExpr>(cast)) {
    llvm::SmallString<24> digits;
    number->getValue().toString(digits, 10, false);
    if (cast.getCastKind() == clang::CK_IntegralCast)
      return {std::string(digits) + suffix_of(cast.getType()), kPrimary};
  }
  return converted(cast.getType(), inner);
}

NormalForm::Printed NormalForm::print_unary(const clang::UnaryOperator& unary) {
  const clang::Expr& inner = *unary.getSubExpr();
  switch (unary.getOpcode()) {
    case clang::UO_PostInc:
    case clang::UO_PostDec:
      return temporary(unary);
    case clang::UO_PreInc:
    case clang::UO_PreDec:
    case clang::UO_Plus:
    case clang::UO_Extension:
      return print(inner);
    case clang::UO_Deref:
      return {"*" + operand(inner, kPrimary), kUnary};
    case clang::UO_AddrOf:
    case clang::UO_Minus:
    case clang::UO_Not:
    case clang::UO_LNot:
      return {clang::UnaryOperator::getOpcodeStr(unary.getOpcode()).str() + " " +
                  operand(inner, kPrimary),
              kUnary};
    default:
      return as_written(unary);
  }
}

NormalForm::Printed NormalForm::print_binary(const clang::BinaryOperator& binary) {
  if (binary.isAssignmentOp()) return print(*binary.getLHS());
  if (binary.isLogicalOp()) return temporary(binary);
  if (binary.getOpcode() == clang::BO_Comma) return print(*binary.getRHS());
  if (binary.isPtrMemOp()) return as_written(binary);
  const int level = binds(binary.getOpcode());
  const std::string sign = " " + binary.getOpcodeStr().str() + " ";
  if (binary.isComparisonOp() && binary.getLHS()->getType()->isPointerType() &&
      binary.getRHS()->getType()->isPointerType()) {
    const clang::QualType number = context_.getUIntPtrType();
    return {converted(number, *as_compared(*binary.getLHS())).text + sign +
                converted(number, *as_compared(*binary.getRHS())).text,
            level};
  }
  return {operand(*binary.getLHS(), level) + sign + operand(*binary.getRHS(), level - 1), level};
}

NormalForm::Printed NormalForm::print_element(const clang::ArraySubscriptExpr& element) {
  const clang::Expr& base = *element.getBase();
  const auto* const decay = llvm::dyn_cast<clang::ImplicitCastExpr>(base.IgnoreParens());
  if (decay != nullptr && decay->getCastKind() == clang::CK_ArrayToPointerDecay)
    return {operand(base, kPrimary) + "[" + print(*element.getIdx()).text + "]", kPrimary};
  return {"*(" + operand(base, binds(clang::BO_Add)) + " + " +
              operand(*element.getIdx(), binds(clang::BO_Mul)) + ")",
          kUnary};
}

NormalForm::Printed NormalForm::print_member(const clang::MemberExpr& member) {
  if (member.isImplicitAccess()) return as_written(member);
  const clang::Expr& base = *member.getBase();
  const std::string field = member.getMemberDecl()->getNameAsString();
  if (!member.isArrow()) return {operand(base, kPrimary) + "." + field, kPrimary};
  const bool is_name = llvm::isa<clang::DeclRefExpr>(base.IgnoreParenImpCasts());
  const std::string pointer = operand(base, kPrimary);
  return {(is_name ? pointer : "(" + pointer + ")") + "->" + field, kPrimary};
}

NormalForm::Printed NormalForm::print(const clang::Expr& expr) {
  if (const auto* const inner = llvm::dyn_cast<clang::ParenExpr>(&expr))
    return print(*inner->getSubExpr());
  if (const auto* const whole = llvm::dyn_cast<clang::FullExpr>(&expr))
    return print(*whole->getSubExpr());
  if (const auto* const cast = llvm::dyn_cast<clang::CastExpr>(&expr)) return print_cast(*cast);
  if (const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(&expr))
    return print_unary(*unary);
  if (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(&expr))
    return print_binary(*binary);
  if (const auto* const element = llvm::dyn_cast<clang::ArraySubscriptExpr>(&expr))
    return print_element(*element);
  if (const auto* const member = llvm::dyn_cast<clang::MemberExpr>(&expr))
    return print_member(*member);
  if (const auto* const call = llvm::dyn_cast<clang::CallExpr>(&expr)) {
    // A mark returns its value.
    const clang::FunctionDecl* const callee = call->getDirectCallee();
    const bool is_mark = callee != nullptr && callee->getIdentifier() != nullptr &&
                         callee->getName().starts_with(kMarkPrefix);
    return is_mark && call->getNumArgs() > 1 ? print(*call->getArg(1)) : temporary(expr);
  }
  if (llvm::isa<clang::AbstractConditionalOperator>(expr) || llvm::isa<clang::StmtExpr>(expr))
    return temporary(expr);
  if (const auto* const reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
    const auto* const variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (variable != nullptr && !reference->hasQualifier()) return {name(*variable), kPrimary};
  }
  return as_written(expr);
}

std::string NormalForm::text(const clang::Expr& expr) { return print(expr).text; }

std::string NormalForm::condition(const clang::Expr& expr) {
  const auto* const logic = llvm::dyn_cast<clang::BinaryOperator>(expr.IgnoreParenImpCasts());
  if (logic == nullptr || !logic->isLogicalOp()) return text(expr);
  const auto side = [&](const clang::Expr& operand) {
    const auto* const inner = llvm::dyn_cast<clang::BinaryOperator>(operand.IgnoreParenImpCasts());
    const bool other =
        inner != nullptr && inner->isLogicalOp() && inner->getOpcode() != logic->getOpcode();
    return other ? "(" + condition(operand) + ")" : condition(operand);
  };
  const std::string left = side(*logic->getLHS());
  return left + " " + logic->getOpcodeStr().str() + " " + side(*logic->getRHS());
}

std::string NormalForm::callee(const clang::Expr& expr) {
  const clang::Expr& inner = *expr.IgnoreParenImpCasts();
  if (llvm::isa<clang::DeclRefExpr>(inner) && inner.getType()->isFunctionType())
    return print(inner).text;
  const auto* const follows = llvm::dyn_cast<clang::UnaryOperator>(&inner);
  if (follows != nullptr && follows->getOpcode() == clang::UO_Deref) return print(inner).text;
  return llvm::isa<clang::MemberExpr>(inner) && !inner.getType()->isPointerType()
             ? as_written(inner).text
             : "*" + operand(inner, kPrimary);
}

std::string NormalForm::statement(const clang::Expr& expr) {
  const clang::Expr& inner = *expr.IgnoreParenImpCasts();
  if (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(&inner);
      binary != nullptr && binary->isAssignmentOp()) {
    const clang::Expr& right = *binary->getRHS();
    const bool is_call = llvm::isa<clang::CallExpr>(right.IgnoreParenImpCasts());
    return print(*binary->getLHS()).text + " " + binary->getOpcodeStr().str() + " " +
           (is_call ? statement(right) : print(right).text);
  }
  if (const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(&inner);
      unary != nullptr && unary->isIncrementDecrementOp())
    return print(*unary->getSubExpr()).text + (unary->isIncrementOp() ? " ++" : " --");
  const auto* const call = llvm::dyn_cast<clang::CallExpr>(&inner);
  if (call == nullptr || llvm::isa<clang::CXXOperatorCallExpr>(call)) return print(expr).text;
  std::string out;
  for (const clang::Expr* const argument : call->arguments())
    out += (out.empty() ? "" : ", ") + print(*argument).text;
  const std::string named = callee(*call->getCallee());
  return (named.starts_with("*") ? "(" + named + ")" : named) + "(" + out + ")";
}

}  // namespace telltale::instrument
