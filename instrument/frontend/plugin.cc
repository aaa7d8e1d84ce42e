// The AST side: sees each function before clang makes code of it, plants marks, and asks for the IR
// side.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/Attr.h>
#include <clang/AST/StmtVisitor.h>
#include <clang/Basic/Version.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <clang/Lex/Pragma.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/MD5.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/dataflow_writer.h"
#include "frontend/site_inserter.h"
#include "transform/sampler_pass.h"

namespace telltale::instrument {
namespace {

std::set<std::string, std::less<>>& excluded_by_pragma() {
  static std::set<std::string, std::less<>> names;
  return names;
}

bool emits_code(clang::frontend::ActionKind action) {
  return action == clang::frontend::EmitAssembly || action == clang::frontend::EmitBC ||
         action == clang::frontend::EmitLLVM || action == clang::frontend::EmitObj;
}

// The second step of a module: clang has read the source before.
bool is_precompiled(const clang::CompilerInstance& compiler) {
  return compiler.getFrontendOpts().DashX.getFormat() == clang::InputKind::Precompiled;
}

// What a signature tells apart: every byte that was compiled, where from, and how.
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
  // The text behind modules and precompiled headers is not read again: what came of it counts.
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

// Every integer constant of a function that is looked at.
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

  // clang 19 does not tell of methods whose body is a try block.
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
    // Before anything is planted in statements that instantiations of a template share.
    for (const clang::FunctionDecl* const function : state_->deferred) add_dataflow(*function);
    // Planting in one may turn up lambdas.
    for (std::size_t i = 0; i < state_->deferred.size(); ++i) instrument(*state_->deferred[i]);
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

  // Nobody tells of the classes of modules and precompiled headers.
  void add_imported(const clang::ASTContext& context) {
    if (context.getExternalSource() == nullptr) return;
    const std::size_t known = context.getTypes().size();  // looking may add some
    for (std::size_t i = 0; i < known; ++i) {
      const auto* const record = context.getTypes()[i]->getAsCXXRecordDecl();
      const clang::CXXRecordDecl* const defined =
          record == nullptr ? nullptr : record->getDefinition();
      if (defined != nullptr && defined->isFromASTFile() && defined->hasInClassInitializer() &&
          !defined->isDependentContext() && imported_.insert(defined).second)
        with_default_initialisers_.push_back(defined);
    }
  }

  // Those in functions are found there. Others stand in initialisers of globals and members, which
  // nobody looks into.
  void add_lambdas(const clang::ASTContext& context) {
    for (std::size_t i = 0; i < context.getTypes().size(); ++i) {
      const auto* const record = context.getTypes()[i]->getAsCXXRecordDecl();
      if (record == nullptr || !record->isLambda() || record->isGenericLambda() ||
          record->isDependentContext() || record->getParentFunctionOrMethod() != nullptr)
        continue;
      if (clang::CXXMethodDecl* const body = record->getLambdaCallOperator(); body != nullptr)
        state_->deferred.push_back(body);
    }
  }

  // Is code made of it whether or not somebody uses it? Asking clang would settle the linkage of
  // classes that have no name yet.
  static bool is_emitted_at_once(const clang::FunctionDecl& function) {
    return function.getTemplateSpecializationKind() == clang::TSK_ExplicitInstantiationDefinition ||
           function.hasAttr<clang::UsedAttr>() || function.hasAttr<clang::ConstructorAttr>() ||
           function.hasAttr<clang::DestructorAttr>();
  }

  void instrument_or_defer(clang::FunctionDecl& function) {
    if (!function.doesThisDeclarationHaveABody() || function.isDependentContext()) return;
    if (compiler_.getDiagnostics().hasErrorOccurred()) return;
    const bool cxx = compiler_.getLangOpts().CPlusPlus;
    // A constant expression further down may still run it. Code for these is made at the end.
    const bool waits = cxx && (function.isConstexpr() ||
                               ((function.isInlined() || function.isTemplateInstantiation()) &&
                                !is_emitted_at_once(function)));
    if (waits) {
      state_->deferred.push_back(&function);
    } else {
      instrument(function);
    }
  }

  // A constructor that nobody wrote, of a class that says what its members begin with.
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
    const clang::ASTContext& context = state_->context;
    if (context.GetGVALinkageForFunction(&function) == clang::GVA_AvailableExternally) return false;
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

class ExcludeFunctionPragma : public clang::PragmaHandler {
 public:
  ExcludeFunctionPragma() : PragmaHandler("sampler_exclude_function") {}
  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer,
                    clang::Token&) override {
    take_name(preprocessor, excluded_by_pragma());
  }
  static void take_name(clang::Preprocessor& preprocessor,
                        std::set<std::string, std::less<>>& names) {
    clang::Token token;
    preprocessor.Lex(token);
    if (token.isNot(clang::tok::l_paren)) return;
    preprocessor.Lex(token);
    std::string name;
    if (preprocessor.FinishLexStringLiteral(token, name, "pragma", false)) names.insert(name);
    while (token.isNot(clang::tok::eod)) preprocessor.Lex(token);
  }
};

class AssumeWeightlessPragma : public clang::PragmaHandler {
 public:
  AssumeWeightlessPragma() : PragmaHandler("sampler_assume_weightless") {}
  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer,
                    clang::Token&) override {
    ExcludeFunctionPragma::take_name(preprocessor, weightless_by_pragma());
  }
};

class SamplerAction : public clang::PluginASTAction {
 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef file) override {
    const clang::FrontendOptions& asked = compiler.getFrontendOpts();
    // Modules of a map may be made on the way, in the middle of a unit.
    if (!emits_code(asked.ProgramAction) ||
        compiler.getLangOpts().getCompilingModule() == clang::LangOptions::CMK_ModuleMap)
      return std::make_unique<clang::ASTConsumer>();
    Options options = std::move(current_unit().options);
    current_unit() = TranslationUnit();
    current_unit().options = std::move(options);
    if (!current_unit().options.any_scheme() ||
        asked.DashX.getLanguage() == clang::Language::LLVM_IR)
      return std::make_unique<clang::ASTConsumer>();
    current_unit().active = true;
    current_unit().source = file.str();
#if CLANG_VERSION_MAJOR > 19
    // It is written when sites are planted already, which importers could not count.
    if (asked.GenReducedBMI && !asked.ModuleOutputPath.empty())
      report_error(compiler, "telltale: a module in one step needs -fno-modules-reduced-bmi");
#endif
    clang::CodeGenOptions& code = compiler.getCodeGenOpts();
    if (code.DisableLLVMPasses) {
      report_error(compiler, "telltale: -disable-llvm-passes leaves nothing that could be counted");
    }
    // -fpass-plugin adds them too, if it is there.
    code.PassBuilderCallbacks.emplace_back(
        [](llvm::PassBuilder& builder) { register_passes(builder); });
    return std::make_unique<SiteConsumer>(compiler);
  }

  bool ParseArgs(const clang::CompilerInstance& compiler,
                 const std::vector<std::string>& arguments) override {
    current_unit().options = Options();
    for (const std::string& given : arguments) {
      const std::string word = given.starts_with("-") ? given : "-" + given;
      std::optional<std::string> error;
      if (!parse_option(word, current_unit().options, error))
        error = "the sampler plugin knows no option '" + given + "'";
      current_unit().options.signature_input += word + '\n';
      if (!error) continue;
      return report_error(compiler, *error);
    }
    if (const std::optional<std::string> error = read_files(current_unit().options))
      return report_error(compiler, *error);
    return true;
  }

  static bool report_error(const clang::CompilerInstance& compiler, const std::string& why) {
    clang::DiagnosticsEngine& diagnostics = compiler.getDiagnostics();
    diagnostics.Report(diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0")) << why;
    return false;
  }

  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<SamplerAction> kAction(
    "sampler", "plants the sites of telltale's sampler");
const clang::PragmaHandlerRegistry::Add<ExcludeFunctionPragma> kExclude("sampler_exclude_function",
                                                                        "no sites in a function");
const clang::PragmaHandlerRegistry::Add<AssumeWeightlessPragma> kWeightless(
    "sampler_assume_weightless", "a function without sites");

}  // namespace

}  // namespace telltale::instrument
