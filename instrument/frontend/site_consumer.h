// The plugin's AST consumer: inserts marks into each function before clang generates code for it.
#pragma once

#include <clang/AST/ASTConsumer.h>
#include <clang/Frontend/CompilerInstance.h>

#include <memory>
#include <set>
#include <string>

namespace telltale::instrument {

// Fills current_unit(), whose options are set, and its signature at the end of the translation
// unit.
std::unique_ptr<clang::ASTConsumer> make_site_consumer(clang::CompilerInstance& compiler);

// The functions that `#pragma sampler_exclude_function("f")` names.
std::set<std::string, std::less<>>& excluded_by_pragma();

}  // namespace telltale::instrument
