// Source text and locations for the site table.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

namespace clang {
class ASTContext;
class Expr;
class FunctionDecl;
class QualType;
class SourceLocation;
}  // namespace clang

namespace telltale::instrument {

// The source of `expr` on one line, without comments and with single spaces. If it is not in a
// file, because it comes from a macro, clang's rendering of the expression.
std::string text_of(const clang::Expr& expr, const clang::ASTContext& context);
std::string text_of_type(clang::QualType type, const clang::ASTContext& context);
// Qualified, with template arguments, without parameters.
std::string name_of(const clang::FunctionDecl& function);

struct SourcePlace {
  std::string file;
  unsigned line = 0;
};
// The expansion location: where a macro is used, not where it is defined.
SourcePlace location_of(clang::SourceLocation location, const clang::ASTContext& context,
                        bool relative);
// An absolute path relative to the working directory of the compiler; unchanged if they share only
// the root.
std::string relative_name(llvm::StringRef path);

}  // namespace telltale::instrument
