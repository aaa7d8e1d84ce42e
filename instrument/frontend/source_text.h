// Expressions as the programmer wrote them.
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

// The source of `expr` on one line: comments are left out and white space becomes one space. Where
// no such text stands in a file (it comes out of a macro), the compiler's own rendering of the
// expression.
std::string text_of(const clang::Expr& expr, const clang::ASTContext& context);
std::string text_of_type(clang::QualType type, const clang::ASTContext& context);
// Qualified, with template arguments, without parameters.
std::string name_of(const clang::FunctionDecl& function);

struct SourcePlace {
  std::string file;
  unsigned line = 0;
};
// Where a reader finds it: the place where a macro is used, not where it is defined.
SourcePlace location_of(clang::SourceLocation location, const clang::ASTContext& context,
                        bool relative);
// An absolute path as seen from the folder that the compiler runs in; unchanged if they share
// nothing but the root.
std::string relative_name(llvm::StringRef path);

}  // namespace telltale::instrument
