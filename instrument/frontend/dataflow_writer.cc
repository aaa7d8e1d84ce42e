#include "frontend/dataflow_writer.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <optional>

#include "analysis/shared_memory_analysis.h"
#include "frontend/dataflow_operands.h"
#include "frontend/normal_form.h"
#include "frontend/site_inserter.h"
#include "frontend/source_text.h"

namespace telltale::instrument {
namespace {

bool is_unevaluated(const clang::Stmt& statement) {
  return llvm::isa<clang::UnaryExprOrTypeTraitExpr>(statement) ||
         llvm::isa<clang::CXXTypeidExpr>(statement) ||
         llvm::isa<clang::CXXNoexceptExpr>(statement) ||
         llvm::isa<clang::OffsetOfExpr>(statement) || llvm::isa<clang::TypeTraitExpr>(statement) ||
         llvm::isa<clang::ConstantExpr>(statement);
}

std::string joined(const std::string& flag, const Operands& operands) {
  std::string line = flag;
  for (std::size_t i = 0; i < operands.size(); ++i) line += (i == 0 ? "" : "\t") + operands[i];
  return line + "\n";
}

clang::BinaryOperatorKind negated(clang::BinaryOperatorKind kind) {
  switch (kind) {
    case clang::BO_LT:
      return clang::BO_GE;
    case clang::BO_GT:
      return clang::BO_LE;
    case clang::BO_LE:
      return clang::BO_GT;
    case clang::BO_GE:
      return clang::BO_LT;
    case clang::BO_EQ:
      return clang::BO_NE;
    default:
      return clang::BO_EQ;
  }
}

// The lines of one function, in evaluation order.
class FunctionLines {
 public:
  explicit FunctionLines(const DataflowOperands& values) : values_(values) {}

  void statement(const clang::Stmt* one) {
    if (one == nullptr || llvm::isa<clang::NullStmt>(one)) return;
    if (const auto* const expr = llvm::dyn_cast<clang::Expr>(one)) {
      const std::size_t before = out.size();
      walk(expr);
      if (out.size() == before) nothing();
    } else if (const auto* const declared = llvm::dyn_cast<clang::DeclStmt>(one)) {
      for (const clang::Decl* const decl : declared->decls()) declaration(*decl);
    } else if (const auto* const result = llvm::dyn_cast<clang::ReturnStmt>(one)) {
      returned(*result);
    } else if (const auto* const branch = llvm::dyn_cast<clang::IfStmt>(one)) {
      statement(branch->getInit());
      statement(branch->getConditionVariableDeclStmt());
      branch->isConstexpr() || branch->isConsteval() ? nothing() : condition(*branch->getCond());
      statement(branch->getThen());
      statement(branch->getElse());
    } else if (const auto* const loop = llvm::dyn_cast<clang::WhileStmt>(one)) {
      statement(loop->getConditionVariableDeclStmt());
      condition(*loop->getCond());
      statement(loop->getBody());
    } else if (const auto* const until = llvm::dyn_cast<clang::DoStmt>(one)) {
      statement(until->getBody());
      condition(*until->getCond());
    } else if (const auto* const count = llvm::dyn_cast<clang::ForStmt>(one)) {
      statement(count->getInit());
      statement(count->getConditionVariableDeclStmt());
      if (count->getCond() != nullptr) condition(*count->getCond());
      statement(count->getBody());
      statement(count->getInc());
    } else if (const auto* const choice = llvm::dyn_cast<clang::SwitchStmt>(one)) {
      statement(choice->getInit());
      statement(choice->getConditionVariableDeclStmt());
      walk(choice->getCond());
      nothing();
      statement(choice->getBody());
    } else if (const auto* const label = llvm::dyn_cast<clang::SwitchCase>(one)) {
      statement(label->getSubStmt());
    } else if (const auto* const range = llvm::dyn_cast<clang::CXXForRangeStmt>(one)) {
      statement(range->getInit());
      statement(range->getRangeStmt());
      nothing();
      statement(range->getLoopVarStmt());
      statement(range->getBody());
    } else if (const auto* const assembly = llvm::dyn_cast<clang::GCCAsmStmt>(one)) {
      outputs(*assembly);
    } else if (llvm::isa<clang::BreakStmt>(one) || llvm::isa<clang::ContinueStmt>(one) ||
               llvm::isa<clang::GotoStmt>(one) || llvm::isa<clang::IndirectGotoStmt>(one)) {
      nothing();
    } else if (const auto* const body = llvm::dyn_cast<clang::CoroutineBodyStmt>(one)) {
      statement(body->getBody());
    } else if (const auto* const given = llvm::dyn_cast<clang::CoreturnStmt>(one)) {
      walk(given->getOperand());
      nothing();
    } else {
      for (const clang::Stmt* const child : one->children()) statement(child);
    }
  }

  // Member initialisers.
  void initialisers(const clang::CXXConstructorDecl& made) {
    for (const clang::CXXCtorInitializer* const one : made.inits()) {
      if (!one->isWritten()) continue;
      walk(one->getInit());
      const Operands value = values_.of_value(*one->getInit());
      if (!value.empty()) line("=", {kAnything, value[0]});
    }
  }

  std::string out;
  std::vector<const clang::VarDecl*> static_locals;

 private:
  void line(const std::string& flag, const Operands& operands) { out += joined(flag, operands); }
  void nothing() { line("~", {}); }

  void declaration(const clang::Decl& decl) {
    const auto* const variable = llvm::dyn_cast<clang::VarDecl>(&decl);
    if (variable == nullptr) return;
    if (variable->isStaticLocal()) static_locals.push_back(variable);
    if (!variable->hasLocalStorage() || variable->getInit() == nullptr) return;
    const clang::Expr& init = *variable->getInit();
    if (const clang::CallExpr* const call = called(init))
      return passed(*call, values_.of_variable(*variable));
    walk(&init);
    Operands pairs;
    values_.initialised(values_.of_variable(*variable).size() == 1 || init.getType()->isRecordType()
                            ? plain_name(*variable)
                            : std::string(kElement),
                        true, variable->getType(), init, pairs);
    if (!pairs.empty()) line("=", pairs);
  }

  // The name without members.
  [[nodiscard]] std::string plain_name(const clang::VarDecl& variable) const {
    const Operands operands = values_.of_variable(variable);
    if (operands.empty()) return kAnything;
    return operands[0].substr(0, operands[0].find('.'));
  }

  void returned(const clang::ReturnStmt& result) {
    if (result.getRetValue() == nullptr) return nothing();
    walk(result.getRetValue());
    const Operands value = values_.of_value(*result.getRetValue());
    value.size() == 1 ? line("<", value) : nothing();
  }

  void outputs(const clang::GCCAsmStmt& assembly) {
    for (const clang::Stmt* const child : assembly.children()) walk(child);
    Operands written;
    for (unsigned i = 0; i < assembly.getNumOutputs(); ++i) {
      for (std::string& place : values_.of_place(*assembly.getOutputExpr(i)))
        written.push_back(std::move(place));
    }
    for (unsigned i = 0; i < assembly.getNumClobbers(); ++i) {
      if (assembly.getClobber(i) == "memory") written = {"!"};
    }
    line("!", written);
  }

  // The call whose result the value is, or null.
  static const clang::CallExpr* called(const clang::Expr& value) {
    return llvm::dyn_cast<clang::CallExpr>(&strip_casts(value));
  }

  template <typename Call>
  void passed(const Call& call, const Operands& receivers) {
    for (const clang::Stmt* const child : call.children()) walk(child);
    Operands operands{receivers.size() == 1 ? receivers[0] : "."};
    for (const clang::Expr* const argument : call.arguments()) {
      Operands values = argument->isGLValue() ? Operands{kAnything} : values_.of_value(*argument);
      for (std::string& value : values) operands.push_back(std::move(value));
    }
    line(">", operands);
  }

  void assigned(const clang::Expr& target, const clang::Expr* value) {
    const Operands places = values_.of_place(target);
    Operands values = value == nullptr ? Operands() : values_.of_value(*value);
    values.resize(places.size(), kAnything);
    Operands pairs;
    for (std::size_t i = 0; i < places.size(); ++i) {
      pairs.push_back(places[i]);
      pairs.push_back(values[i]);
    }
    if (!pairs.empty()) line("=", pairs);
  }

  void condition(const clang::Expr& asked) {
    const clang::Expr* expr = &strip_temporaries(asked);
    bool flipped = false;
    for (;;) {
      const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(expr);
      const auto* const cast = llvm::dyn_cast<clang::ImplicitCastExpr>(expr);
      if (unary != nullptr && unary->getOpcode() == clang::UO_LNot) {
        flipped = !flipped;
        expr = &strip_temporaries(*unary->getSubExpr());
      } else if (cast != nullptr && cast->getCastKind() != clang::CK_LValueToRValue &&
                 cast->isPRValue() && cast->getSubExpr()->isPRValue()) {
        expr = &strip_temporaries(*cast->getSubExpr());
      } else {
        break;
      }
    }
    const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(expr);
    if (binary != nullptr && binary->isLogicalOp()) {
      condition(*binary->getLHS());
      return condition(*binary->getRHS());
    }
    walk(expr);
    if (binary != nullptr && binary->isComparisonOp() && binary->getOpcode() != clang::BO_Cmp) {
      const std::optional<std::string> left = values_.simple(*binary->getLHS());
      const std::optional<std::string> right = values_.simple(*binary->getRHS());
      if (!left || !right) return nothing();
      const clang::BinaryOperatorKind kind =
          flipped ? negated(binary->getOpcode()) : binary->getOpcode();
      return line("?", {clang::BinaryOperator::getOpcodeStr(kind).str(), *left, *right});
    }
    const std::optional<std::string> value = values_.simple(*expr);
    value ? line("?", {flipped ? "==" : "!=", *value, "0"}) : nothing();
  }

  // The effects of an expression.
  void walk(const clang::Stmt* one) {
    if (one == nullptr || is_unevaluated(*one)) return;
    if (!llvm::isa<clang::Expr>(one)) return statement(one);
    if (const auto* const lambda = llvm::dyn_cast<clang::LambdaExpr>(one)) {
      for (const clang::Expr* const init : lambda->capture_inits()) walk(init);
    } else if (const auto* const block = llvm::dyn_cast<clang::StmtExpr>(one)) {
      statement(block->getSubStmt());
    } else if (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(one);
               binary != nullptr && (binary->isAssignmentOp() || binary->isLogicalOp())) {
      binary->isLogicalOp() ? condition(*binary) : assignment(*binary);
    } else if (const auto* const choice = llvm::dyn_cast<clang::ConditionalOperator>(one)) {
      condition(*choice->getCond());
      walk(choice->getTrueExpr());
      walk(choice->getFalseExpr());
    } else if (const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(one);
               unary != nullptr && unary->isIncrementDecrementOp()) {
      walk(unary->getSubExpr());
      assigned(*unary->getSubExpr(), nullptr);
    } else if (const auto* const call = llvm::dyn_cast<clang::CallExpr>(one)) {
      passed(*call, {});
    } else if (const auto* const made = llvm::dyn_cast<clang::CXXConstructExpr>(one);
               made != nullptr && !made->getConstructor()->isTrivial()) {
      passed(*made, {});
    } else if (const auto* const awaited = llvm::dyn_cast<clang::CoroutineSuspendExpr>(one)) {
      walk(awaited->getOperand());
    } else if (const auto* const generic = llvm::dyn_cast<clang::GenericSelectionExpr>(one)) {
      walk(generic->getResultExpr());
    } else if (!llvm::isa<clang::OpaqueValueExpr>(one) &&
               !llvm::isa<clang::PseudoObjectExpr>(one)) {
      for (const clang::Stmt* const child : one->children()) walk(child);
    }
  }

  void assignment(const clang::BinaryOperator& binary) {
    walk(binary.getLHS());
    if (binary.isCompoundAssignmentOp()) {
      walk(binary.getRHS());
      return assigned(*binary.getLHS(), nullptr);
    }
    if (const clang::CallExpr* const call = called(*binary.getRHS()))
      return passed(*call, values_.of_place(*binary.getLHS()));
    walk(binary.getRHS());
    assigned(*binary.getLHS(), binary.getRHS());
  }

  const DataflowOperands& values_;
};

// Static locals are listed with the globals.
std::string static_name(const clang::VarDecl& variable) {
  const auto* const owner = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
  return (owner == nullptr ? std::string() : name_of(*owner) + "$") + variable.getNameAsString();
}

std::string global_name(const clang::VarDecl& variable) {
  if (variable.isStaticLocal()) return static_name(variable);
  std::string out;
  llvm::raw_string_ostream stream(out);
  variable.getNameForDiagnostic(stream, variable.getASTContext().getPrintingPolicy(),
                                /*Qualified=*/true);
  return out;
}

}  // namespace

void DataflowWriter::add(const clang::FunctionDecl& function,
                         const std::vector<clang::VarDecl*>& globals) {
  if (!done_.insert(&function).second || function.getBody() == nullptr) return;
  const NormalForm names(function, globals);
  const std::string own = name_of(function);
  const DataflowOperands values(
      context_, options_.dataflow_fields, [&](const clang::VarDecl& variable) {
        if (variable.hasGlobalStorage()) {
          named_.insert(variable.getCanonicalDecl());
          return global_name(variable);
        }
        return (options_.rename_locals ? own + "$" : "") + names.name(variable);
      });
  const SharedMemoryAnalysis places(function);
  address_taken_.insert(places.address_taken().begin(), places.address_taken().end());
  FunctionLines lines(values);
  if (const auto* const made = llvm::dyn_cast<clang::CXXConstructorDecl>(&function))
    lines.initialisers(*made);
  lines.statement(function.getBody());
  const auto list = [&](const clang::VarDecl& variable) {
    for (const std::string& name : values.of_variable(variable))
      functions_ += (places.address_taken().contains(&variable) ? "&" : "") + name + "\n";
  };
  functions_ += own + "\n";
  for (const clang::ParmVarDecl* const formal : function.parameters()) list(*formal);
  functions_ += "\n";
  for (const clang::VarDecl* const local : names.locals()) {
    if (local->hasLocalStorage() && !local->getName().empty()) list(*local);
  }
  functions_ += "\n" + lines.out + "\n";
  for (const clang::VarDecl* const one : lines.static_locals) named_.insert(one);
}

std::string DataflowWriter::text(const std::vector<clang::VarDecl*>& globals) const {
  const DataflowOperands values(context_, options_.dataflow_fields, global_name);
  std::string out;
  std::vector<const clang::VarDecl*> all(globals.begin(), globals.end());
  for (const clang::VarDecl* const one : named_) {
    if (std::find(globals.begin(), globals.end(), one) == globals.end()) all.push_back(one);
  }
  llvm::DenseSet<const clang::VarDecl*> taken = address_taken_;
  for (const clang::VarDecl* const variable : all) {
    const clang::Expr* const init = variable->getAnyInitializer();
    const SharedMemoryAnalysis in_init(init);
    taken.insert(in_init.address_taken().begin(), in_init.address_taken().end());
  }
  for (const clang::VarDecl* variable : all) {
    const clang::VarDecl* definition = variable->getDefinition();
    if (definition == nullptr) definition = variable->getActingDefinition();
    const bool is_extern = definition == nullptr;
    const bool is_static = !is_extern && (variable->isStaticLocal() ||
                                          variable->getFormalLinkage() == clang::Linkage::Internal);
    const bool is_taken = taken.contains(variable) || taken.contains(definition);
    const char* const storage =
        is_extern || (is_static && is_taken) ? "&" : (is_static ? "-" : "+");
    const Operands names = values.of_variable(*variable);
    std::string value;
    if (!is_extern && names.size() == 1 && is_discrete(variable->getType(), context_)) {
      const clang::Expr* const init = definition->getAnyInitializer();
      const Operands given = init == nullptr ? Operands{"0"} : values.of_value(*init);
      value = "\t" + (given.size() == 1 ? given[0] : kAnything);
    }
    for (const std::string& name : names) out += storage + name + value + "\n";
  }
  return out + "\n" + functions_ + "\n";
}

}  // namespace telltale::instrument
