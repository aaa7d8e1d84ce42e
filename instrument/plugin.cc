// Registers the plugin with clang: the frontend action, the pragmas, and the LLVM pass.
#include <clang/Basic/TargetInfo.h>
#include <clang/Basic/Version.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <clang/Lex/Pragma.h>
#include <clang/Lex/Preprocessor.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/callee_weights.h"
#include "frontend/site_consumer.h"
#include "path_tracing/path_tracing_pass.h"
#include "path_tracing/traced_unit.h"
#include "transform/sampler_pass.h"
#include "translation_unit.h"

namespace telltale::instrument {
namespace {

bool emits_code(clang::frontend::ActionKind action) {
  return action == clang::frontend::EmitAssembly || action == clang::frontend::EmitBC ||
         action == clang::frontend::EmitLLVM || action == clang::frontend::EmitObj;
}

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
    // clang may build a module of a module map in the middle of another unit.
    if (!emits_code(asked.ProgramAction) ||
        compiler.getLangOpts().getCompilingModule() == clang::LangOptions::CMK_ModuleMap)
      return std::make_unique<clang::ASTConsumer>();
    Options options = std::move(current_unit().options);
    current_unit() = TranslationUnit();
    current_unit().options = std::move(options);
    current_unit().is_traced = traced_unit().options.is_on();
    if ((current_unit().is_traced || current_unit().options.any_scheme()) &&
        !compiler.getTarget().getTriple().isOSBinFormatELF()) {
      report_error(compiler, std::string("telltale: ") +
                                 (current_unit().is_traced ? "--trace" : "-fsampler-scheme") +
                                 " needs a target with ELF files");
      return std::make_unique<clang::ASTConsumer>();
    }
    if (current_unit().is_traced) trace_paths(compiler);
    if (!current_unit().options.any_scheme() ||
        asked.DashX.getLanguage() == clang::Language::LLVM_IR)
      return std::make_unique<clang::ASTConsumer>();
    current_unit().active = true;
    current_unit().source = file.str();
#if CLANG_VERSION_MAJOR > 19
    // The reduced module interface would be written with the marks in it, without their sites.
    if (asked.GenReducedBMI && !asked.ModuleOutputPath.empty())
      report_error(compiler,
                   "telltale: compiling a module in one step needs -fno-modules-reduced-bmi");
#endif
    clang::CodeGenOptions& code = compiler.getCodeGenOpts();
    require_passes(compiler);
    // -fpass-plugin= of this file may add the pass a second time; it runs once.
    code.PassBuilderCallbacks.emplace_back(
        [](llvm::PassBuilder& builder) { register_passes(builder); });
    return make_site_consumer(compiler);
  }

  bool ParseArgs(const clang::CompilerInstance& compiler,
                 const std::vector<std::string>& arguments) override {
    current_unit().options = Options();
    traced_unit() = TracedUnit();
    for (const std::string& given : arguments) {
      const std::string word = given.starts_with("-") ? given : "-" + given;
      std::optional<std::string> error;
      std::optional<std::string> warning;  // the driver prints it
      if (parse_trace_option(word, traced_unit().options, error, warning)) {
        if (error) return report_error(compiler, *error);
        continue;
      }
      if (!parse_option(word, current_unit().options, error))
        error = "the sampler plugin does not know the option '" + given + "'";
      current_unit().options.signature_input += word + '\n';
      if (!error) continue;
      return report_error(compiler, *error);
    }
    if (const std::optional<std::string> error = read_files(current_unit().options))
      return report_error(compiler, *error);
    if (traced_unit().options.is_on()) {
      if (const std::optional<std::string> error = read_schema(traced_unit().options))
        return report_error(compiler, *error);
    }
    return true;
  }

  static void trace_paths(clang::CompilerInstance& compiler) {
    require_passes(compiler);
    clang::CodeGenOptions& code = compiler.getCodeGenOpts();
    traced_unit().is_active = true;
    const clang::frontend::ActionKind action = compiler.getFrontendOpts().ProgramAction;
    traced_unit().optimises_later = code.PrepareForLTO || code.PrepareForThinLTO ||
                                    action == clang::frontend::EmitBC ||
                                    action == clang::frontend::EmitLLVM;
    if (traced_unit().options.line_tables) leave_to_debuggers(code);
    code.PassBuilderCallbacks.emplace_back(
        [](llvm::PassBuilder& builder) { register_path_tracing(builder); });
  }

  // Switches off debug information that only debuggers use, and that takes time: where the values
  // of variables are that calls have overwritten, columns, and which instructions to stop at.
  static void leave_to_debuggers(clang::CodeGenOptions& code) {
    code.EmitCallSiteInfo = false;
    code.DebugColumnInfo = false;
#if CLANG_VERSION_MAJOR > 19
    code.DebugKeyInstructions = false;
#endif
  }

  static void require_passes(const clang::CompilerInstance& compiler) {
    if (compiler.getCodeGenOpts().DisableLLVMPasses)
      report_error(compiler, "telltale: -disable-llvm-passes also disables the instrumentation");
  }

  static bool report_error(const clang::CompilerInstance& compiler, const std::string& why) {
    clang::DiagnosticsEngine& diagnostics = compiler.getDiagnostics();
    diagnostics.Report(diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0")) << why;
    return false;
  }

  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<SamplerAction> kAction(
    "sampler", "adds the sites of telltale's sampler");
const clang::PragmaHandlerRegistry::Add<ExcludeFunctionPragma> kExclude("sampler_exclude_function",
                                                                        "no sites in a function");
const clang::PragmaHandlerRegistry::Add<AssumeWeightlessPragma> kWeightless(
    "sampler_assume_weightless", "a function without sites");

}  // namespace

}  // namespace telltale::instrument
