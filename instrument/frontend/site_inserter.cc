#include "frontend/site_inserter.h"

#include <llvm/ADT/SmallPtrSet.h>

namespace telltale::instrument {
namespace {

// May a constant expression further down read it? Then its initialiser stays as it is. Many a
// `const` variable is begun with what only the run knows.
bool is_constant(const clang::VarDecl& variable, const clang::ASTContext& context) {
  return variable.isConstexpr() || variable.isUsableInConstantExpressions(context);
}

}  // namespace

ValueKind value_kind(clang::QualType type, const clang::ASTContext& context) {
  type = type.getCanonicalType();
  if (type->isPointerType()) return ValueKind::kPointer;
  if (type->isRealFloatingType()) return ValueKind::kFloat;
  if (!type->isIntegralOrEnumerationType() || type->isBitIntType()) return ValueKind::kNone;
  if (type->isDependentType() || context.getTypeSize(type) > 64) return ValueKind::kNone;
  return type->isSignedIntegerOrEnumerationType() ? ValueKind::kSigned : ValueKind::kUnsigned;
}

SiteInserter::SiteInserter(InserterState& state, clang::FunctionDecl& function)
    : state_(state), function_(function), builder_(state.builder) {}

void SiteInserter::set_location(clang::SourceLocation location) {
  if (location.isInvalid()) return;
  const Options& options = state_.unit.options;
  location_ = location_of(location, state_.context, options.relative_paths);
  const clang::SourceManager& sources = state_.context.getSourceManager();
  const clang::PresumedLoc presumed = sources.getPresumedLoc(sources.getExpansionLoc(location));
  location_enabled_ =
      presumed.isInvalid() || options.wants_location(presumed.getFilename(), presumed.getLine());
}

unsigned SiteInserter::add_site(Scheme scheme, std::vector<std::string> fields,
                                clang::QualType type) {
  Site site;
  site.scheme = scheme;
  site.file = location_.file;
  site.line = location_.line;
  site.function = number_;
  site.fields = std::move(fields);
  if (!type.isNull() && !type->isVoidType()) {
    site.kind = value_kind(type, state_.context);
    site.bits = static_cast<unsigned>(state_.context.getTypeSize(type));
    if (type->isBooleanType()) site.bits = 1;
  }
  state_.unit.sites.emplace_back(std::move(site));
  return static_cast<unsigned>(state_.unit.sites.size()) - 1;
}

unsigned SiteInserter::finish_mark(Mark mark) {
  mark.function = number_;
  state_.unit.marks.push_back(std::move(mark));
  return static_cast<unsigned>(state_.unit.marks.size()) - 1;
}

unsigned SiteInserter::add_mark(Scheme scheme, std::vector<std::string> fields,
                                clang::QualType type) {
  Mark mark;
  mark.scheme = scheme;
  mark.sites.push_back(add_site(scheme, std::move(fields), type));
  return finish_mark(std::move(mark));
}

std::string SiteInserter::local_name(const clang::VarDecl& variable) const {
  std::string name = normal_ ? normal_->name(variable) : variable.getNameAsString();
  if (!state_.unit.options.rename_locals || variable.hasGlobalStorage()) return name;
  return state_.unit.functions[static_cast<std::size_t>(function_number_)].name + "$" + name;
}

void SiteInserter::run() {
  const Options& options = state_.unit.options;
  clang::Stmt* body = function_.getBody();
  set_location(function_.getLocation());
  number_ = static_cast<int>(state_.unit.functions.size());
  function_number_ = number_;
  state_.unit.functions.push_back({name_of(function_), location_.file, location_.line,
                                   function_.getFormalLinkage() == clang::Linkage::Internal});
  if (options.has(Scheme::kScalarPairs)) reaching_definitions_.emplace(function_);
  if (options.has_access_scheme()) shared_memory_.emplace(function_);
  if (options.normal_form) normal_.emplace(function_, state_.globals);

  std::vector<clang::Stmt*> start;
  Mark mark;
  mark.is_function_start = true;
  start.push_back(builder_.marker(finish_mark(std::move(mark)), function_.getLocation()));
  // Nobody wrote it: only what its members begin with is looked at.
  if (function_.isDefaulted()) {
    instrument_member_initialisers(*llvm::cast<clang::CXXConstructorDecl>(&function_));
    start.push_back(body);
    function_.setBody(in_compound(start, body->getBeginLoc(), body->getEndLoc()));
    return;
  }
  if (options.has(Scheme::kFunctionEntries))
    start.push_back(
        builder_.marker(add_mark(Scheme::kFunctionEntries, {}, {}), function_.getLocation()));
  auto* const coroutine = llvm::dyn_cast<clang::CoroutineBodyStmt>(body);
  // A coroutine leaves when it suspends: who is inside it cannot be counted.
  if (is_enabled(Scheme::kFunReentries) && coroutine == nullptr) {
    const std::string& name = state_.unit.functions.back().name;
    start.push_back(
        builder_.marker(add_mark(Scheme::kFunReentries, {name}, {}), function_.getLocation()));
  }
  if (options.has(Scheme::kFloatKinds)) {
    for (clang::ParmVarDecl* const formal : function_.parameters()) {
      if (value_kind(formal->getType(), state_.context) != ValueKind::kFloat ||
          formal->getName().empty())
        continue;
      const unsigned number = add_mark(Scheme::kFloatKinds,
                                       {local_name(*formal), "local", "direct"}, formal->getType());
      start.push_back(builder_.forward(
          number, builder_.load(builder_.reference(formal, function_.getLocation()))));
    }
  }
  if (auto* const constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&function_))
    instrument_member_initialisers(*constructor);
  if (coroutine != nullptr) {
    // What the programmer wrote comes first among its parts.
    clang::Stmt*& written = *coroutine->children().begin();
    instrument_statement(written);
    start.push_back(written);
    written = in_compound(start, written->getBeginLoc(), written->getEndLoc());
    return;
  }
  instrument_statement(body);
  if (auto* const attempt = llvm::dyn_cast<clang::CXXTryStmt>(body)) {
    clang::Stmt*& block = *attempt->children().begin();
    start.push_back(block);
    block = in_compound(start, block->getBeginLoc(), block->getEndLoc());
    function_.setBody(body);
    return;
  }
  start.push_back(body);
  function_.setBody(in_compound(start, body->getBeginLoc(), body->getEndLoc()));
}

clang::Stmt* SiteInserter::in_compound(const std::vector<clang::Stmt*>& statements,
                                       clang::SourceLocation begin, clang::SourceLocation end) {
  return clang::CompoundStmt::Create(state_.context, statements, {}, begin, end);
}

// What is not evaluated, or not as the expression that it looks like.
bool SiteInserter::is_opaque(const clang::Stmt& statement) {
  switch (statement.getStmtClass()) {
    case clang::Stmt::UnaryExprOrTypeTraitExprClass:
    case clang::Stmt::CXXTypeidExprClass:
    case clang::Stmt::CXXNoexceptExprClass:
    case clang::Stmt::OffsetOfExprClass:
    case clang::Stmt::TypeTraitExprClass:
    case clang::Stmt::RequiresExprClass:
    case clang::Stmt::ConceptSpecializationExprClass:
    case clang::Stmt::ConstantExprClass:
    case clang::Stmt::BlockExprClass:
    case clang::Stmt::CapturedStmtClass:
    case clang::Stmt::PseudoObjectExprClass:
    case clang::Stmt::OpaqueValueExprClass:
    case clang::Stmt::ArrayInitLoopExprClass:
    case clang::Stmt::GCCAsmStmtClass:
    case clang::Stmt::MSAsmStmtClass:
    case clang::Stmt::ShuffleVectorExprClass:
    case clang::Stmt::ConvertVectorExprClass:
    case clang::Stmt::SEHTryStmtClass:
      return true;
    default:
      break;
  }
  const llvm::StringRef name(statement.getStmtClassName());
  return name.starts_with("OMP") || name.starts_with("ObjC") || name.starts_with("OpenACC");
}

// The statement as coverage tells it; empty if it is none.
std::string SiteInserter::coverage_text(const clang::Stmt& statement) const {
  if (const auto* const branch = llvm::dyn_cast<clang::IfStmt>(&statement))
    return branch->isConsteval() || branch->isConstexpr() ? "" : condition_text(*branch->getCond());
  if (const auto* const choice = llvm::dyn_cast<clang::SwitchStmt>(&statement))
    return text(*choice->getCond());
  if (const auto* const expr = llvm::dyn_cast<clang::Expr>(&statement))
    return (normal_ ? normal_->statement(*expr) : text(*expr)) + ";";
  if (const auto* const result = llvm::dyn_cast<clang::ReturnStmt>(&statement)) {
    if (result->getRetValue() == nullptr) return "return;";
    const std::string value = text(*result->getRetValue());
    return normal_ ? "return (" + value + ");" : "return " + value + ";";
  }
  if (const auto* const given = llvm::dyn_cast<clang::CoreturnStmt>(&statement)) {
    if (given->isImplicit()) return "";
    return given->getOperand() == nullptr ? "co_return;"
                                          : "co_return " + text(*given->getOperand()) + ";";
  }
  if (llvm::isa<clang::BreakStmt>(statement)) return "break;";
  if (llvm::isa<clang::ContinueStmt>(statement)) return "continue;";
  if (const auto* const jump = llvm::dyn_cast<clang::GotoStmt>(&statement))
    return "goto " + jump->getLabel()->getNameAsString() + ";";
  const auto* const declaration = llvm::dyn_cast<clang::DeclStmt>(&statement);
  if (declaration == nullptr) return "";
  std::string what;
  for (const clang::Decl* const decl : declaration->decls()) {
    const auto* const variable = llvm::dyn_cast<clang::VarDecl>(decl);
    if (variable == nullptr || !variable->hasLocalStorage() || variable->getInit() == nullptr)
      continue;
    if (!what.empty()) what += " ";
    what += normal_ ? normal_->name(*variable) : variable->getNameAsString();
    // A constructor that nobody wrote stands where the name does.
    if (variable->getInit()->getBeginLoc() != variable->getLocation())
      what +=
          " = " + (normal_ ? normal_->statement(*variable->getInit()) : text(*variable->getInit()));
    what += ";";
  }
  return what;
}

clang::Expr* SiteInserter::coverage_mark(const clang::Stmt& statement) {
  if (!is_enabled(Scheme::kCoverage)) return nullptr;
  const std::string what = coverage_text(statement);
  if (what.empty()) return nullptr;
  return builder_.marker(add_mark(Scheme::kCoverage, {what}, {}), statement.getBeginLoc());
}

clang::Expr* SiteInserter::reset_mark(const clang::Stmt& statement) {
  const std::vector<FilterRule>& points = state_.unit.options.reset_points;
  if (points.empty()) return nullptr;
  const clang::SourceManager& sources = state_.context.getSourceManager();
  const clang::PresumedLoc here =
      sources.getPresumedLoc(sources.getExpansionLoc(statement.getBeginLoc()));
  if (here.isInvalid()) return nullptr;
  for (const FilterRule& point : points) {
    if (point.line != here.getLine() || point.name != here.getFilename()) continue;
    Mark mark;
    mark.is_reset = true;
    return builder_.marker(finish_mark(std::move(mark)), statement.getBeginLoc());
  }
  return nullptr;
}

void SiteInserter::instrument_statement(clang::Stmt*& slot) {
  if (slot == nullptr) return;
  if (!llvm::isa<clang::CompoundStmt>(slot)) set_location(slot->getBeginLoc());
  if (auto* const declaration = llvm::dyn_cast<clang::DeclStmt>(slot))
    return instrument_head_declaration(*declaration);
  std::vector<clang::Stmt*> marks;
  for (clang::Expr* const mark : {reset_mark(*slot), coverage_mark(*slot)}) {
    if (mark != nullptr) marks.push_back(mark);
  }
  clang::Stmt* const before = slot;
  instrument_substatements(slot);
  if (marks.empty()) return;
  marks.push_back(slot);
  slot = in_compound(marks, before->getBeginLoc(), before->getEndLoc());
}

// The declaration in the head of a loop or an `if`: a block of its own would end its variables'
// lives. Its mark goes into the initialiser, where that is a number.
void SiteInserter::instrument_head_declaration(clang::DeclStmt& declaration) {
  auto* const variable = declaration.isSingleDecl()
                             ? llvm::dyn_cast<clang::VarDecl>(declaration.getSingleDecl())
                             : nullptr;
  const bool is_number = variable != nullptr && variable->getInit() != nullptr &&
                         variable->hasLocalStorage() && variable->getType()->isScalarType() &&
                         !llvm::isa<clang::InitListExpr>(variable->getInit()) &&
                         !is_constant(*variable, state_.context);
  clang::Expr* const mark = is_number ? coverage_mark(declaration) : nullptr;
  clang::Stmt* node = &declaration;
  instrument_substatements(node);
  if (mark == nullptr) return;
  clang::Stmt** const slot = variable->getInitAddress();
  auto* const value = llvm::cast<clang::Expr>(*slot);
  *slot = builder_.binary(clang::BO_Comma, mark, value, value->getType());
}

void SiteInserter::instrument_compound(clang::Stmt*& slot, Use last) {
  auto& block = *llvm::cast<clang::CompoundStmt>(slot);
  const std::size_t visible = scope_.size();
  std::vector<clang::Stmt*> statements;
  bool grown = false;
  for (clang::Stmt*& child : block.body()) {
    if (!llvm::isa<clang::CompoundStmt>(child)) set_location(child->getBeginLoc());
    for (clang::Expr* const mark : {reset_mark(*child), coverage_mark(*child)}) {
      if (mark == nullptr) continue;
      statements.push_back(mark);
      grown = true;
    }
    if (llvm::isa<clang::Expr>(child)) {
      const bool is_value = last == Use::kValue && &child == block.body_end() - 1;
      instrument_expression(child, is_value ? Use::kValue : Use::kDiscarded);
    } else {
      instrument_substatements(child);
    }
    statements.push_back(child);
  }
  scope_.resize(visible);
  if (!grown) return;
  slot = clang::CompoundStmt::Create(
      state_.context, statements,
      block.hasStoredFPFeatures() ? block.getStoredFPFeatures() : clang::FPOptionsOverride(),
      block.getLBracLoc(), block.getRBracLoc());
}

// The children of a statement that has a condition; what is no expression is a statement.
void SiteInserter::instrument_conditional(clang::Stmt& parent, const clang::Expr* condition_expr,
                                          const clang::Expr* increment_expr) {
  const SourcePlace place = location_;
  const bool wanted = location_enabled_;
  const bool is_do = llvm::isa<clang::DoStmt>(parent);
  // What `if constexpr` asks was answered long ago.
  const auto* const branch = llvm::dyn_cast<clang::IfStmt>(&parent);
  const clang::Stmt* const answered =
      branch != nullptr && branch->isConstexpr() ? branch->getCond() : nullptr;
  for (clang::Stmt*& child : parent.children()) {
    if (child == nullptr || child == answered) continue;
    auto* const expr = llvm::dyn_cast<clang::Expr>(child);
    if (expr != nullptr && expr == condition_expr) {
      if (is_do) set_location(llvm::cast<clang::DoStmt>(parent).getWhileLoc());
      clang::Expr* mark = nullptr;
      if (!llvm::isa<clang::IfStmt>(parent) && is_enabled(Scheme::kCoverage) &&
          !expr->isEvaluatable(state_.context))
        mark = builder_.marker(add_mark(Scheme::kCoverage, {condition_text(*expr)}, {}),
                               expr->getBeginLoc());
      instrument_condition(child);
      auto* const value = llvm::cast<clang::Expr>(child);
      if (mark != nullptr) child = builder_.binary(clang::BO_Comma, mark, value, value->getType());
    } else if (expr != nullptr && expr == increment_expr) {
      clang::Expr* mark = nullptr;
      if (is_enabled(Scheme::kCoverage))
        mark = builder_.marker(add_mark(Scheme::kCoverage, {coverage_text(*expr)}, {}),
                               expr->getBeginLoc());
      instrument_expression(child, Use::kDiscarded);
      auto* const value = llvm::cast<clang::Expr>(child);
      if (mark != nullptr) {
        child = clang::BinaryOperator::Create(state_.context, mark, value, clang::BO_Comma,
                                              value->getType(), value->getValueKind(),
                                              value->getObjectKind(), value->getBeginLoc(), {});
      }
    } else {
      instrument_statement(child);
      location_ = place;
      location_enabled_ = wanted;
    }
  }
}

void SiteInserter::instrument_range_for(clang::CXXForRangeStmt& loop) {
  clang::Stmt* init = loop.getInit();
  if (init != nullptr) instrument_statement(init);
  instrument_declarations(*loop.getRangeStmt());
  if (is_enabled(Scheme::kBranches) && loop.getCond() != nullptr &&
      loop.getCond()->getType()->isBooleanType()) {
    const unsigned mark =
        add_mark(Scheme::kBranches, {text(*loop.getRangeInit())}, loop.getCond()->getType());
    loop.setCond(builder_.forward(mark, loop.getCond()));
  }
  const std::size_t visible = scope_.size();
  clang::Stmt* body = loop.getBody();
  instrument_statement(body);
  loop.setBody(body);
  scope_.resize(visible);
}

// What says how long arrays are. The outermost node stays: canonical types, too, point to it.
void SiteInserter::instrument_array_bounds(clang::DeclStmt& declaration) {
  llvm::SmallPtrSet<const clang::Stmt*, 4> initialisers;
  for (const clang::Decl* const decl : declaration.decls()) {
    if (const auto* const variable = llvm::dyn_cast<clang::VarDecl>(decl))
      initialisers.insert(variable->getInit());
  }
  for (clang::Stmt* child : declaration.children()) {
    if (child != nullptr && !initialisers.contains(child))
      instrument_expression(child, Use::kValue);
  }
}

void SiteInserter::instrument_declarations(clang::DeclStmt& declaration) {
  instrument_array_bounds(declaration);
  for (clang::Decl* const decl : declaration.decls()) {
    auto* const variable = llvm::dyn_cast<clang::VarDecl>(decl);
    if (variable == nullptr) continue;
    clang::Stmt** slot = variable->getInit() == nullptr ? nullptr : variable->getInitAddress();
    const bool is_const = is_constant(*variable, state_.context);
    const bool is_static = variable->isStaticLocal() && (!state_.context.getLangOpts().CPlusPlus ||
                                                         variable->hasConstantInitialization());
    if (slot != nullptr && !is_const && !is_static && !variable->hasExternalStorage()) {
      const bool yields = shared_memory_ && is_enabled(Scheme::kYields) &&
                          variable->hasLocalStorage() &&
                          (shared_memory_->is_shared(*variable, state_.context) ||
                           shared_memory_->is_accessed_by(**slot, state_.context));
      const std::string what =
          yields ? variable->getNameAsString() + " = " + text(*variable->getInit()) : "";
      instrument_expression(*slot, Use::kValue);
      while (auto* const list = llvm::dyn_cast<clang::InitListExpr>(*slot)) {
        if (list->getNumInits() != 1 || !variable->getType()->isScalarType()) break;
        slot = &*list->children().begin();
      }
      if (const std::optional<AssignedLvalue> left = variable_lvalue(*variable);
          left && variable->hasLocalStorage())
        *slot = add_assignment_marks(llvm::cast<clang::Expr>(*slot), *left, variable);
      auto* const value = llvm::cast<clang::Expr>(*slot);
      if (yields && value->isPRValue()) *slot = add_yield_mark(value, what);
      if (shared_memory_ && shared_memory_->is_shared(*variable, state_.context))
        *slot = add_access_marks(llvm::cast<clang::Expr>(*slot), local_name(*variable), true);
    }
    if (!variable->hasExternalStorage()) scope_.push_back(variable);
  }
}

void SiteInserter::instrument_substatements(clang::Stmt*& slot) {
  if (slot == nullptr) return;
  if (auto* const directive = llvm::dyn_cast<clang::OMPExecutableDirective>(slot))
    return instrument_openmp(*directive);
  if (is_opaque(*slot)) return;
  clang::Stmt& node = *slot;
  if (llvm::isa<clang::Expr>(node)) return instrument_expression(slot, Use::kDiscarded);
  if (!state_.visited.insert(&node).second) return;
  const std::size_t visible = scope_.size();
  if (llvm::isa<clang::CompoundStmt>(node)) {
    instrument_compound(slot, Use::kDiscarded);
  } else if (auto* const declaration = llvm::dyn_cast<clang::DeclStmt>(&node)) {
    return instrument_declarations(*declaration);
  } else if (auto* const given = llvm::dyn_cast<clang::CoreturnStmt>(&node)) {
    return instrument_coroutine_return(*given);
  } else if (auto* const branch = llvm::dyn_cast<clang::IfStmt>(&node)) {
    if (branch->isConsteval()) {
      // The run takes one way always.
      const bool is_then = branch->isNegatedConsteval();
      clang::Stmt* taken = is_then ? branch->getThen() : branch->getElse();
      instrument_statement(taken);
      is_then ? branch->setThen(taken) : branch->setElse(taken);
    } else {
      instrument_conditional(node, branch->isConstexpr() ? nullptr : branch->getCond(), nullptr);
    }
  } else if (auto* const loop = llvm::dyn_cast<clang::WhileStmt>(&node)) {
    instrument_conditional(node, loop->getCond(), nullptr);
  } else if (auto* const until = llvm::dyn_cast<clang::DoStmt>(&node)) {
    instrument_conditional(node, until->getCond(), nullptr);
  } else if (auto* const count = llvm::dyn_cast<clang::ForStmt>(&node)) {
    instrument_conditional(node, count->getCond(), count->getInc());
  } else if (auto* const range = llvm::dyn_cast<clang::CXXForRangeStmt>(&node)) {
    instrument_range_for(*range);
  } else if (llvm::isa<clang::CaseStmt>(node)) {
    clang::Stmt* inner = llvm::cast<clang::CaseStmt>(node).getSubStmt();
    instrument_statement(inner);
    llvm::cast<clang::CaseStmt>(node).setSubStmt(inner);
  } else if (auto* const attributed = llvm::dyn_cast<clang::AttributedStmt>(&node)) {
    // What must be a tail call stays one.
    for (const clang::Attr* const attr : attributed->getAttrs()) {
      if (attr->getKind() == clang::attr::MustTail) return;
    }
    for (clang::Stmt*& child : node.children()) instrument_statement(child);
  } else if (llvm::isa<clang::LabelStmt>(node) || llvm::isa<clang::DefaultStmt>(node) ||
             llvm::isa<clang::CXXTryStmt>(node) || llvm::isa<clang::CXXCatchStmt>(node)) {
    for (clang::Stmt*& child : node.children()) instrument_statement(child);
  } else if (llvm::isa<clang::SwitchStmt>(node)) {
    const clang::Expr* const choice = llvm::cast<clang::SwitchStmt>(node).getCond();
    for (clang::Stmt*& child : node.children()) {
      if (child == choice) {
        instrument_expression(child, Use::kValue);
      } else {
        instrument_statement(child);
      }
    }
  } else {
    for (clang::Stmt*& child : node.children()) {
      if (child != nullptr && llvm::isa<clang::Expr>(child)) {
        instrument_expression(child, Use::kValue);
      } else {
        instrument_statement(child);
      }
    }
  }
  scope_.resize(visible);
}

}  // namespace telltale::instrument
