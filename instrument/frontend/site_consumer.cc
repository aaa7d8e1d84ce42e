#include "frontend/site_consumer.h"

#include <clang/AST/Attr.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/MD5.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "frontend/dataflow_writer.h"
#include "frontend/site_inserter.h"

namespace telltale::instrument {
namespace {

// Does clang compile a module from its precompiled form, rather than from its source?
bool is_precompiled(const clang::CompilerInstance& compiler) {
  return compiler.getFrontendOpts().DashX.getFormat() == clang::InputKind::Precompiled;
}

// A hash of all that the tables depend on: the sources and their names, options and macros.
std::array<std::uint8_t, 16> signature_of(const clang::CompilerInstance& compiler,
                                          const TranslationUnit& unit) {
  llvm::MD5 hash;
  const auto add = [&hash](llvm::StringRef text) {
    hash.update(text);
    hash.update(llvm::StringRef("\0", 1));
  };
  add(unit.source);
  add(unit.options.signature_input);
  for (const auto& [macro, is_undefined] : compiler.getPreprocessorOpts().Macros)
    add((is_undefined ? "-U" : "-D") + macro);
  const clang::SourceManager& sources = compiler.getSourceManager();
  const bool has_precompiled = compiler.getASTContext().getExternalSource() != nullptr;
  std::map<std::string, std::string> files;
  for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
    const std::string name = file->first.getName().str();
    const bool lost = unit.options.relative_paths && has_precompiled;
    if (const auto text = file->second->getBufferDataIfLoaded())
      files[lost ? relative_name(name) : name] = text->str();
  }
  for (const auto& [name, text] : files) {
    add(name);
    add(text);
  }
  // The sources of modules and precompiled headers are not loaded. The sites stand in for them.
  if (has_precompiled) {
    for (const Site& site : unit.sites) {
      add(site.file);
      add(std::to_string(site.line));
      for (const std::string& field : site.fields) add(field);
    }
    for (const Function& function : unit.functions) add(function.name);
  }
  llvm::MD5::MD5Result result;
  hash.final(result);
  std::array<std::uint8_t, 16> bytes{};
  std::copy(result.begin(), result.end(), bytes.begin());
  return bytes;
}

// -fcompare-constants: adds every integer constant expression of a function.
void collect_constants(const clang::Stmt* statement, const clang::ASTContext& context,
                       std::set<std::int64_t>& found) {
  if (statement == nullptr) return;
  if (const auto* const expr = llvm::dyn_cast<clang::Expr>(statement);
      expr != nullptr && expr->isPRValue() && expr->getType()->isIntegralOrEnumerationType()) {
    clang::Expr::EvalResult result;
    if (!expr->isValueDependent() && expr->EvaluateAsInt(result, context) &&
        !expr->HasSideEffects(context)) {
      const llvm::APSInt number = result.Val.getInt();
      if (number.getBitWidth() > 64) return;
      found.insert(number.isSigned() ? number.getSExtValue()
                                     : static_cast<std::int64_t>(number.getZExtValue()));
      return;
    }
  }
  for (const clang::Stmt* const child : statement->children())
    collect_constants(child, context, found);
}

class SiteConsumer : public clang::ASTConsumer {
 public:
  explicit SiteConsumer(clang::CompilerInstance& compiler) : compiler_(compiler) {}

  void Initialize(clang::ASTContext& context) override {
    state_.emplace(context, current_unit());
    if (current_unit().options.dataflow) dataflow_.emplace(context, current_unit().options);
  }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* const decl : group) visit_declaration(*decl);
    return true;
  }

  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override {
    instrument_or_defer(*function);
  }

  // clang 19 does not pass methods with a function-try-block to HandleInlineFunctionDefinition().
  void HandleTagDeclDefinition(clang::TagDecl* type) override {
    const auto* const record = llvm::dyn_cast<clang::CXXRecordDecl>(type);
    if (record == nullptr || record->isDependentContext() || record->isLambda()) return;
    for (clang::CXXMethodDecl* const method : record->methods()) state_->deferred.push_back(method);
    if (record->hasInClassInitializer()) with_default_initialisers_.push_back(record);
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (compiler_.getDiagnostics().hasErrorOccurred()) return;
    state_->at_end_of_unit = true;
    add_imported(context);
    for (const clang::CXXRecordDecl* const record : with_default_initialisers_) {
      for (clang::CXXConstructorDecl* const made : record->ctors())
        state_->deferred.push_back(made);
    }
    add_lambdas(context);
    // All functions, before marks are inserted: instantiations of a template share statements.
    for (const clang::FunctionDecl* const function : state_->deferred) add_dataflow(*function);
    // Instrumenting a function may append lambdas.
    for (std::size_t i = 0; i < state_->deferred.size(); ++i) {
      add_specializations(*state_->deferred[i]);
      instrument(*state_->deferred[i]);
    }
    add_constant_sites(*state_);
    if (dataflow_) current_unit().dataflow = dataflow_->text(state_->globals);
    if (is_precompiled(compiler_)) {
      const clang::SourceManager& sources = compiler_.getSourceManager();
      if (const auto file = sources.getFileEntryRefForID(sources.getMainFileID()))
        current_unit().source = current_unit().options.relative_paths
                                    ? relative_name(file->getName())
                                    : file->getName().str();
    }
    current_unit().signature = signature_of(compiler_, current_unit());
  }

 private:
  void visit_declaration(clang::Decl& decl) {
    if (auto* const function = llvm::dyn_cast<clang::FunctionDecl>(&decl))
      return instrument_or_defer(*function);
    if (auto* const variable = llvm::dyn_cast<clang::VarDecl>(&decl)) {
      if (variable->isFileVarDecl() && !variable->isStaticDataMember() && variable->isFirstDecl() &&
          !variable->getType()->isDependentType())
        state_->globals.push_back(variable);
      return;
    }
    if (!llvm::isa<clang::NamespaceDecl>(decl) && !llvm::isa<clang::LinkageSpecDecl>(decl) &&
        !llvm::isa<clang::ExportDecl>(decl))
      return;
    for (clang::Decl* const inner : llvm::cast<clang::DeclContext>(decl).decls())
      visit_declaration(*inner);
  }

  // clang calls HandleTagDeclDefinition() for no class of a module or precompiled header.
  void add_imported(const clang::ASTContext& context) {
    if (context.getExternalSource() == nullptr) return;
    const std::size_t known = context.getTypes().size();  // the loop may add types
    for (std::size_t i = 0; i < known; ++i) {
      const auto* const record = context.getTypes()[i]->getAsCXXRecordDecl();
      const clang::CXXRecordDecl* const defined =
          record == nullptr ? nullptr : record->getDefinition();
      if (defined != nullptr && defined->isFromASTFile() && defined->hasInClassInitializer() &&
          !defined->isDependentContext() && imported_.insert(defined).second)
        with_default_initialisers_.push_back(defined);
    }
  }

  // Adds the lambdas in initialisers of globals and members. SiteInserter finds those in functions.
  void add_lambdas(const clang::ASTContext& context) {
    for (std::size_t i = 0; i < context.getTypes().size(); ++i) {
      const auto* const record = context.getTypes()[i]->getAsCXXRecordDecl();
      if (record == nullptr || !record->isLambda() || record->isDependentContext() ||
          record->getParentFunctionOrMethod() != nullptr)
        continue;
      if (clang::CXXMethodDecl* const body = record->getLambdaCallOperator(); body != nullptr)
        state_->deferred.push_back(body);
    }
  }

  // Adds the instances of a generic lambda's body. Since clang 22, the frontend reports none that
  // is first instantiated in an unevaluated operand, for its return type: those of most lambdas
  // that are given to the standard library.
  void add_specializations(const clang::FunctionDecl& function) {
    const auto* const method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
    const clang::FunctionTemplateDecl* const body = function.getDescribedFunctionTemplate();
    if (method == nullptr || body == nullptr || !method->getParent()->isLambda()) return;
    for (clang::FunctionDecl* const made : body->specializations())
      state_->deferred.push_back(made);
  }

  // Does clang emit the function even if nothing uses it? ASTContext::DeclMustBeEmitted() is no
  // alternative: it computes linkage, too early for classes that get a name from a typedef.
  static bool is_emitted_at_once(const clang::FunctionDecl& function) {
    return function.getTemplateSpecializationKind() == clang::TSK_ExplicitInstantiationDefinition ||
           function.hasAttr<clang::UsedAttr>() || function.hasAttr<clang::ConstructorAttr>() ||
           function.hasAttr<clang::DestructorAttr>();
  }

  void instrument_or_defer(clang::FunctionDecl& function) {
    if (!function.doesThisDeclarationHaveABody() || function.isDependentContext()) return;
    if (compiler_.getDiagnostics().hasErrorOccurred()) return;
    const bool cxx = compiler_.getLangOpts().CPlusPlus;
    // A constant expression below may still evaluate it. clang emits such functions at the end.
    const bool waits = cxx && (function.isConstexpr() ||
                               ((function.isInlined() || function.isTemplateInstantiation()) &&
                                !is_emitted_at_once(function)));
    if (waits || (!cxx && is_of_another_file(function))) {
      state_->deferred.push_back(&function);
    } else {
      instrument(function);
    }
  }

  // Is the definition only there to be inlined? In C, a declaration below, such as `extern inline`,
  // can still make it the one that clang emits, at the end.
  bool is_of_another_file(const clang::FunctionDecl& function) const {
    return state_->context.GetGVALinkageForFunction(&function) == clang::GVA_AvailableExternally;
  }

  // Is it an implicit or defaulted constructor of a class with default member initialisers?
  static bool initialises_members(const clang::FunctionDecl& function) {
    const auto* const made = llvm::dyn_cast<clang::CXXConstructorDecl>(&function);
    return made != nullptr && !made->isCopyOrMoveConstructor() &&
           made->getParent()->hasInClassInitializer();
  }

  bool is_wanted(const clang::FunctionDecl& function) const {
    if ((function.isDefaulted() && !initialises_members(function)) || function.isDeleted() ||
        function.isConsteval() || function.isDependentContext())
      return false;
    if (function.hasAttr<clang::NoInstrumentFunctionAttr>() || function.hasAttr<clang::NakedAttr>())
      return false;
    if (is_of_another_file(function)) return false;
    const clang::ASTContext& context = state_->context;
    const clang::Stmt* const body = function.getBody();
    if (!llvm::isa<clang::CompoundStmt>(body) && !llvm::isa<clang::CXXTryStmt>(body) &&
        !llvm::isa<clang::CoroutineBodyStmt>(body))
      return false;
    const clang::SourceLocation location = function.getLocation();
    if (!current_unit().options.system_headers &&
        context.getSourceManager().isInSystemHeader(location))
      return false;
    const std::string name = function.getDeclName().getAsString();
    return !excluded_by_pragma().contains(name) && current_unit().options.wants_function(name);
  }

  void add_dataflow(const clang::FunctionDecl& decl) {
    const clang::FunctionDecl* const function = decl.getDefinition();
    if (dataflow_ && function != nullptr && function->getBody() != nullptr &&
        !function->isDefaulted() && is_wanted(*function))
      dataflow_->add(*function, state_->globals);
  }

  void instrument(clang::FunctionDecl& decl) {
    clang::FunctionDecl* const function = decl.getDefinition();
    if (function == nullptr || !done_.insert(function).second || function->getBody() == nullptr)
      return;
    if (!is_wanted(*function)) return;
    add_dataflow(*function);
    if (current_unit().options.compare_constants)
      collect_constants(function->getBody(), state_->context, state_->constants);
    SiteInserter(*state_, *function).run();
  }

  clang::CompilerInstance& compiler_;
  std::optional<InserterState> state_;
  std::optional<DataflowWriter> dataflow_;
  std::vector<const clang::CXXRecordDecl*> with_default_initialisers_;
  llvm::DenseSet<const clang::CXXRecordDecl*> imported_;
  llvm::DenseSet<const clang::FunctionDecl*> done_;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> make_site_consumer(clang::CompilerInstance& compiler) {
  return std::make_unique<SiteConsumer>(compiler);
}

std::set<std::string, std::less<>>& excluded_by_pragma() {
  static std::set<std::string, std::less<>> names;
  return names;
}

}  // namespace telltale::instrument
