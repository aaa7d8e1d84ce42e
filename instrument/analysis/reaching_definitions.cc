#include "analysis/reaching_definitions.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Analysis/CFG.h>

#include <memory>
#include <vector>

namespace telltale::instrument {
namespace {

const clang::VarDecl* local_named_by(const clang::Expr* expr) {
  const auto* const name = llvm::dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts());
  return name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
}

}  // namespace

// Numbers the locals. Those whose address is taken, or that a reference or a lambda may change,
// count as always defined.
void ReachingDefinitions::collect_locals(const clang::Stmt* statement) {
  if (statement == nullptr) return;
  if (const auto* const declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl* const decl : declaration->decls()) {
      const auto* const variable = llvm::dyn_cast<clang::VarDecl>(decl);
      if (variable == nullptr || !variable->hasLocalStorage()) continue;
      numbers_.try_emplace(variable, numbers_.size());
      if (variable->getType()->isReferenceType() && variable->getInit() != nullptr) {
        if (const auto* const target = local_named_by(variable->getInit()))
          address_taken_.insert(target);
      }
    }
  } else if (const auto* const address = llvm::dyn_cast<clang::UnaryOperator>(statement)) {
    if (address->getOpcode() == clang::UO_AddrOf) {
      if (const auto* const variable = local_named_by(address->getSubExpr()))
        address_taken_.insert(variable);
    }
  } else if (const auto* const lambda = llvm::dyn_cast<clang::LambdaExpr>(statement)) {
    for (const clang::LambdaCapture& capture : lambda->captures()) {
      if (!capture.capturesVariable()) continue;
      if (const auto* const variable = llvm::dyn_cast<clang::VarDecl>(capture.getCapturedVar()))
        address_taken_.insert(variable);
    }
    return;
  } else if (const auto* const region = llvm::dyn_cast<clang::CapturedStmt>(statement)) {
    for (const clang::CapturedStmt::Capture& capture : region->captures()) {
      if (capture.capturesVariable()) address_taken_.insert(capture.getCapturedVar());
    }
    return collect_locals(region->getCapturedStmt());
  } else if (const auto* const call = llvm::dyn_cast<clang::CallExpr>(statement)) {
    // Glvalue arguments are bound to references.
    for (const clang::Expr* const argument : call->arguments()) {
      if (!argument->isGLValue()) continue;
      if (const auto* const variable = local_named_by(argument)) address_taken_.insert(variable);
    }
  }
  for (const clang::Stmt* const child : statement->children()) collect_locals(child);
}

void ReachingDefinitions::define(const clang::VarDecl* variable, State& state) const {
  const auto found = numbers_.find(variable);
  if (found == numbers_.end()) return;
  state.defined.set(found->second);
  state.undefined.reset(found->second);
}

void ReachingDefinitions::transfer(const clang::Stmt* statement, State& state, bool record) {
  if (const auto* const declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl* const decl : declaration->decls()) {
      const auto* const variable = llvm::dyn_cast<clang::VarDecl>(decl);
      if (variable == nullptr || variable->getInit() == nullptr) continue;
      if (record) before_[variable] = state;
      define(variable, state);
    }
    return;
  }
  const clang::Expr* target = nullptr;
  if (const auto* const binary = llvm::dyn_cast<clang::BinaryOperator>(statement)) {
    if (binary->isAssignmentOp()) target = binary->getLHS();
  } else if (const auto* const unary = llvm::dyn_cast<clang::UnaryOperator>(statement)) {
    if (unary->isIncrementDecrementOp()) target = unary->getSubExpr();
  }
  if (target == nullptr) return;
  if (record) before_[statement] = state;
  if (const auto* const variable = local_named_by(target)) define(variable, state);
}

ReachingDefinitions::ReachingDefinitions(const clang::FunctionDecl& function) {
  clang::Stmt* const body = function.getBody();
  collect_locals(body);
  clang::CFG::BuildOptions options;
  options.setAllAlwaysAdd();
  options.AddEHEdges = false;
  const std::unique_ptr<clang::CFG> graph =
      clang::CFG::buildCFG(&function, body, &function.getASTContext(), options);
  if (graph == nullptr) return;
  const unsigned size = numbers_.size();
  const State nothing{llvm::BitVector(size), llvm::BitVector(size)};
  std::vector<State> in(graph->getNumBlockIDs(), nothing);
  std::vector<bool> reached(graph->getNumBlockIDs());
  std::vector<bool> waits(graph->getNumBlockIDs());
  std::vector<const clang::CFGBlock*> work{&graph->getEntry()};
  in[graph->getEntry().getBlockID()].undefined.set();
  reached[graph->getEntry().getBlockID()] = true;
  const auto run = [&](const clang::CFGBlock& block, bool record) {
    State state = in[block.getBlockID()];
    for (const clang::CFGElement& element : block) {
      if (const auto statement = element.getAs<clang::CFGStmt>())
        transfer(statement->getStmt(), state, record);
    }
    return state;
  };
  while (!work.empty()) {
    const clang::CFGBlock* const block = work.back();
    work.pop_back();
    waits[block->getBlockID()] = false;
    const State out = run(*block, false);
    for (const clang::CFGBlock* const next : block->succs()) {
      if (next == nullptr) continue;
      const unsigned id = next->getBlockID();
      const State old = in[id];
      in[id].defined |= out.defined;
      in[id].undefined |= out.undefined;
      const bool changed =
          !reached[id] || old.defined != in[id].defined || old.undefined != in[id].undefined;
      reached[id] = true;
      if (changed && !waits[id]) {
        waits[id] = true;
        work.push_back(next);
      }
    }
  }
  for (const clang::CFGBlock* const block : *graph) {
    if (reached[block->getBlockID()]) run(*block, true);
  }
}

Reach ReachingDefinitions::reach(const clang::VarDecl& local, const void* place) const {
  if (address_taken_.contains(&local)) return Reach::kAlways;
  const auto number = numbers_.find(&local);
  const auto state = before_.find(place);
  if (number == numbers_.end() || state == before_.end()) return Reach::kNothing;
  if (!state->second.defined.test(number->second)) return Reach::kNothing;
  return state->second.undefined.test(number->second) ? Reach::kMaybe : Reach::kAlways;
}

}  // namespace telltale::instrument
