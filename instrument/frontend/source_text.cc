#include "frontend/source_text.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

namespace telltale::instrument {
namespace {

// The tokens with single spaces where there was white space.
std::string on_one_line(llvm::StringRef text, const clang::LangOptions& language) {
  const std::string ended = text.str();  // the lexer needs a terminating zero
  clang::Lexer lexer(clang::SourceLocation(), language, ended.data(), ended.data(),
                     ended.data() + ended.size());
  std::string out;
  clang::Token token;
  while (!lexer.LexFromRawLexer(token)) {
    if (!out.empty() && (token.hasLeadingSpace() || token.isAtStartOfLine())) out += ' ';
    const char* const begin = lexer.getBufferLocation() - token.getLength();
    out.append(begin, token.getLength());
  }
  // LexFromRawLexer() returns true with the last token.
  if (token.isNot(clang::tok::eof)) {
    if (!out.empty() && token.hasLeadingSpace()) out += ' ';
    out.append(lexer.getBufferLocation() - token.getLength(), token.getLength());
  }
  return out;
}

// Modules and precompiled headers contain absolute names even if the compiler was given relative
// ones. If it was given an absolute name, all names are absolute anyway.
bool has_lost_its_name(clang::SourceLocation location, const clang::SourceManager& sources) {
  if (!sources.isLoadedSourceLocation(location)) return false;
  const clang::FileID main = sources.getMainFileID();
  const auto file = sources.getFileEntryRefForID(main);
  return sources.isLoadedFileID(main) || !file || !llvm::sys::path::is_absolute(file->getName());
}

// Rows are lines, and tabs separate columns.
std::string as_field(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

}  // namespace

std::string text_of(const clang::Expr& expr, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::CharSourceRange range = clang::Lexer::makeFileCharRange(
      clang::CharSourceRange::getTokenRange(expr.getSourceRange()), sources, context.getLangOpts());
  if (range.isValid()) {
    bool invalid = false;
    const llvm::StringRef text =
        clang::Lexer::getSourceText(range, sources, context.getLangOpts(), &invalid);
    if (!invalid && !text.empty()) {
      const std::string line = on_one_line(text, context.getLangOpts());
      if (!line.empty()) return as_field(line);
    }
  }
  std::string out;
  llvm::raw_string_ostream stream(out);
  expr.printPretty(stream, nullptr, context.getPrintingPolicy());
  stream.flush();
  return as_field(out);
}

std::string text_of_type(clang::QualType type, const clang::ASTContext& context) {
  return as_field(type.getUnqualifiedType().getAsString(context.getPrintingPolicy()));
}

std::string name_of(const clang::FunctionDecl& function) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  function.getNameForDiagnostic(stream, function.getASTContext().getPrintingPolicy(),
                                /*Qualified=*/true);
  stream.flush();
  // The spelling of newer clang releases.
  constexpr llvm::StringLiteral kOldName = "(anonymous class)";
  for (std::size_t at = out.find(kOldName); at != std::string::npos; at = out.find(kOldName))
    out.replace(at, kOldName.size(), "(lambda)");
  return as_field(out);
}

SourcePlace location_of(clang::SourceLocation location, const clang::ASTContext& context,
                        bool relative) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::PresumedLoc presumed = sources.getPresumedLoc(sources.getExpansionLoc(location));
  if (presumed.isInvalid()) return {};
  llvm::SmallString<256> path(presumed.getFilename());
  if (!relative) {
    static_cast<void>(llvm::sys::fs::make_absolute(path));
    // #include "./part.c" otherwise gives "/here/./part.c". ".." stays: it may follow a link.
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/false);
  } else if (has_lost_its_name(location, sources) && !sources.isInSystemHeader(location)) {
    path = relative_name(path);
  }
  return {as_field(std::string(path)), presumed.getLine()};
}

std::string relative_name(llvm::StringRef path) {
  namespace paths = llvm::sys::path;
  llvm::SmallString<256> here;
  if (!paths::is_absolute(path) || llvm::sys::fs::current_path(here)) return path.str();
  auto part = paths::begin(path);
  auto folder = paths::begin(here);
  std::size_t shared = 0;
  for (; part != paths::end(path) && folder != paths::end(here) && *part == *folder; ++shared) {
    ++part;
    ++folder;
  }
  if (shared <= 1) return path.str();  // nothing but the root
  llvm::SmallString<256> relative;
  for (; folder != paths::end(here); ++folder) paths::append(relative, "..");
  for (; part != paths::end(path); ++part) paths::append(relative, *part);
  return std::string(relative);
}

}  // namespace telltale::instrument
