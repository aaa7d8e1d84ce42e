// The bodies of OpenMP regions. Clang outlines some of them, passes captured variables, and drives
// the loops itself. Heads of such loops, and directives of a fixed form, stay as they are.
#include <clang/AST/OpenMPClause.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Basic/OpenMPKinds.h>
#include <clang/Basic/Version.h>

#include <utility>

#include "frontend/site_inserter.h"

namespace telltale::instrument {
namespace {

std::string name_of_directive(clang::OpenMPDirectiveKind kind) {
#if CLANG_VERSION_MAJOR >= 21
  return llvm::omp::getOpenMPDirectiveName(kind, llvm::omp::FallbackVersion).str();
#else
  return llvm::omp::getOpenMPDirectiveName(kind).str();
#endif
}

// atomic and dispatch require one expression of a given form; a target device has no counters;
// transformed loops are already copied; a scan runs its body in two halves.
bool has_fixed_form(const clang::OMPExecutableDirective& directive) {
  const clang::OpenMPDirectiveKind kind = directive.getDirectiveKind();
  if (kind == llvm::omp::OMPD_atomic || kind == llvm::omp::OMPD_dispatch ||
      clang::isOpenMPTargetExecutionDirective(kind) ||
      clang::isOpenMPLoopTransformationDirective(kind))
    return true;
  for (const auto* const clause : directive.getClausesOfKind<clang::OMPReductionClause>()) {
    if (clause->getModifier() == clang::OMPC_REDUCTION_inscan) return true;
  }
  return false;
}

// The slot of the directive's associated statement, or null. Clang keeps a captured statement in
// two places and offers no setter; the statement follows the captures in memory.
clang::Stmt** associated_statement(clang::OMPExecutableDirective& directive,
                                   clang::CapturedStmt*& captured) {
  clang::Stmt** slot = &*directive.children().begin();
  while (auto* const inner = llvm::dyn_cast<clang::CapturedStmt>(*slot)) {
    captured = inner;
    slot = reinterpret_cast<clang::Stmt**>(inner->capture_init_end());
    if (*slot != inner->getCapturedStmt()) return nullptr;
  }
  return slot;
}

// The innermost of the loops that the directive drives; null if they have an unexpected form.
clang::Stmt* innermost_loop(clang::Stmt* statement, unsigned loops) {
  for (;;) {
    statement = statement->IgnoreContainers(true);
    clang::Stmt* body = nullptr;
    if (auto* const count = llvm::dyn_cast<clang::ForStmt>(statement)) {
      body = count->getBody();
    } else if (auto* const range = llvm::dyn_cast<clang::CXXForRangeStmt>(statement)) {
      body = range->getBody();
    } else {
      return nullptr;
    }
    if (--loops == 0) return statement;
    statement = body;
  }
}

void add_named(llvm::ArrayRef<const clang::Expr*> names,
               std::vector<const clang::VarDecl*>& found) {
  for (const clang::Expr* const expr : names) {
    const auto* const name = llvm::dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts());
    if (name == nullptr) continue;
    if (const auto* const variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl()))
      found.push_back(variable);
  }
}

template <typename Clause>
void add_clauses(const clang::OMPExecutableDirective& directive,
                 std::vector<const clang::VarDecl*>& found) {
  for (const auto* const clause : directive.getClausesOfKind<Clause>()) {
#if CLANG_VERSION_MAJOR >= 20
    const auto names = clause->varlist();
#else
    const auto names = clause->varlists();
#endif
    for (const clang::Expr* const name : names) add_named({name}, found);
  }
}

// Variables that are private to a thread.
std::vector<const clang::VarDecl*> private_variables(clang::OMPExecutableDirective& directive) {
  std::vector<const clang::VarDecl*> found;
  add_clauses<clang::OMPPrivateClause>(directive, found);
  add_clauses<clang::OMPFirstprivateClause>(directive, found);
  add_clauses<clang::OMPLastprivateClause>(directive, found);
  add_clauses<clang::OMPReductionClause>(directive, found);
  add_clauses<clang::OMPLinearClause>(directive, found);
  if (auto* const loop = llvm::dyn_cast<clang::OMPLoopDirective>(&directive)) {
    for (const clang::Expr* const counter : loop->counters()) add_named({counter}, found);
  }
  return found;
}

}  // namespace

void SiteInserter::instrument_region_body(clang::Stmt*& slot) {
  clang::Expr* const start = start_mark(slot->getBeginLoc());
  const clang::Stmt* const before = slot;
  instrument_statement(slot);
  slot = in_compound({start, slot}, before->getBeginLoc(), before->getEndLoc());
}

void SiteInserter::instrument_region_statement(clang::OMPExecutableDirective& directive,
                                               clang::Stmt*& slot) {
  const clang::OpenMPDirectiveKind kind = directive.getDirectiveKind();
  if (const auto* const loops = llvm::dyn_cast<clang::OMPLoopBasedDirective>(&directive)) {
    clang::Stmt* const loop = innermost_loop(slot, loops->getLoopsNumber());
    if (loop == nullptr) return;
    auto* const count = llvm::dyn_cast<clang::ForStmt>(loop);
    clang::Stmt* body =
        count != nullptr ? count->getBody() : llvm::cast<clang::CXXForRangeStmt>(loop)->getBody();
    instrument_region_body(body);
    if (count != nullptr) {
      count->setBody(body);
    } else {
      llvm::cast<clang::CXXForRangeStmt>(loop)->setBody(body);
    }
  } else if (auto* const block = llvm::dyn_cast<clang::CompoundStmt>(slot);
             block != nullptr &&
             (kind == llvm::omp::OMPD_sections || kind == llvm::omp::OMPD_parallel_sections)) {
    // The statements of this block are the sections.
    for (clang::Stmt*& section : block->body()) {
      auto* const named = llvm::dyn_cast<clang::OMPSectionDirective>(section);
      named != nullptr ? instrument_openmp(*named) : instrument_region_body(section);
    }
  } else {
    instrument_region_body(slot);
  }
}

void SiteInserter::instrument_openmp(clang::OMPExecutableDirective& directive) {
  if (!directive.hasAssociatedStmt() || has_fixed_form(directive)) return;
  if (!state_.visited.insert(&directive).second) return;
  clang::CapturedStmt* captured = nullptr;
  clang::Stmt** const slot = associated_statement(directive, captured);
  if (slot == nullptr || *slot == nullptr) return;
  // Only captured variables can be named here. Variables around the region may not have been
  // captured.
  const std::vector<clang::VarDecl*> around = std::exchange(scope_, {});
  const bool was_inside = std::exchange(is_detached_, true);
  const int number = number_;
  const std::size_t own =
      shared_memory_ ? shared_memory_->push_private(private_variables(directive)) : 0;
  if (directive.getDirectiveKind() != llvm::omp::OMPD_section) {
    set_location(directive.getBeginLoc());
    const std::string name =
        state_.unit.functions[static_cast<std::size_t>(function_number_)].name + "::(omp " +
        name_of_directive(directive.getDirectiveKind()) + ")";
    number_ = static_cast<int>(state_.unit.functions.size());
    state_.unit.functions.push_back({name, location_.file, location_.line, true});
  }
  instrument_region_statement(directive, *slot);
  if (captured != nullptr) captured->getCapturedDecl()->setBody(*slot);
  if (shared_memory_) shared_memory_->pop_private(own);
  number_ = number;
  is_detached_ = was_inside;
  scope_ = around;
}

}  // namespace telltale::instrument
