#include "frontend/site_inserter.h"

namespace telltale::instrument {
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
  register_function();
  std::vector<clang::Stmt*> statements{start_mark(function_.getLocation())};
  clang::Stmt* body = function_.getBody();
  auto* const constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&function_);
  // An implicit constructor has sites in its member initialisers only.
  if (function_.isDefaulted()) {
    instrument_member_initialisers(*constructor);
    prepend(statements, body);
    return function_.setBody(body);
  }
  add_entry_marks(statements);
  if (constructor != nullptr) instrument_member_initialisers(*constructor);
  if (auto* const coroutine = llvm::dyn_cast<clang::CoroutineBodyStmt>(body)) {
    // The first child is the body as written.
    clang::Stmt*& written = *coroutine->children().begin();
    instrument_statement(written);
    return prepend(statements, written);
  }
  instrument_statement(body);
  auto* const try_body = llvm::dyn_cast<clang::CXXTryStmt>(body);
  prepend(statements, try_body == nullptr ? body : *try_body->children().begin());
  function_.setBody(body);
}

void SiteInserter::register_function() {
  const Options& options = state_.unit.options;
  set_location(function_.getLocation());
  number_ = static_cast<int>(state_.unit.functions.size());
  function_number_ = number_;
  state_.unit.functions.push_back({name_of(function_), location_.file, location_.line,
                                   function_.getFormalLinkage() == clang::Linkage::Internal});
  if (options.has(Scheme::kScalarPairs)) reaching_definitions_.emplace(function_);
  if (options.has_access_scheme()) shared_memory_.emplace(function_);
  if (options.normal_form) normal_.emplace(function_, state_.globals);
}

clang::Expr* SiteInserter::start_mark(clang::SourceLocation location) {
  Mark mark;
  mark.is_function_start = true;
  return builder_.marker(finish_mark(std::move(mark)), location);
}

void SiteInserter::add_entry_marks(std::vector<clang::Stmt*>& statements) {
  const clang::SourceLocation location = function_.getLocation();
  if (state_.unit.options.has(Scheme::kFunctionEntries))
    statements.push_back(builder_.marker(add_mark(Scheme::kFunctionEntries, {}, {}), location));
  // A coroutine leaves when it suspends, so its active calls cannot be counted.
  if (is_enabled(Scheme::kFunReentries) &&
      !llvm::isa<clang::CoroutineBodyStmt>(function_.getBody())) {
    const std::string& name = state_.unit.functions.back().name;
    statements.push_back(builder_.marker(add_mark(Scheme::kFunReentries, {name}, {}), location));
  }
  if (!state_.unit.options.has(Scheme::kFloatKinds)) return;
  for (clang::ParmVarDecl* const formal : function_.parameters()) {
    if (value_kind(formal->getType(), state_.context) != ValueKind::kFloat ||
        formal->getName().empty())
      continue;
    const unsigned number =
        add_mark(Scheme::kFloatKinds, {local_name(*formal), "local", "direct"}, formal->getType());
    statements.push_back(
        builder_.forward(number, builder_.load(builder_.reference(formal, location))));
  }
}

void SiteInserter::prepend(std::vector<clang::Stmt*> statements, clang::Stmt*& slot) {
  statements.push_back(slot);
  slot = in_compound(statements, slot->getBeginLoc(), slot->getEndLoc());
}

clang::Stmt* SiteInserter::in_compound(const std::vector<clang::Stmt*>& statements,
                                       clang::SourceLocation begin, clang::SourceLocation end) {
  return clang::CompoundStmt::Create(state_.context, statements, {}, begin, end);
}

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

}  // namespace telltale::instrument
