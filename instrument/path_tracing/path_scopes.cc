#include "path_tracing/path_scopes.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Path.h>

#include "path_tracing/fnv1a.h"

namespace telltale::instrument {

std::string escaped_field(llvm::StringRef text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '\t' || c == '\n') out += '\\';
    out += c == '\t' ? 't' : c == '\n' ? 'n' : c;
  }
  return out;
}

llvm::StringRef symbol_of(const llvm::DISubprogram& subprogram) {
  return subprogram.getLinkageName().empty() ? subprogram.getName() : subprogram.getLinkageName();
}

std::string path_of(const llvm::DIFile* file) {
  if (file == nullptr) return "";
  llvm::SmallString<256> path(file->getFilename());
  if (llvm::sys::path::is_relative(path)) {
    path = file->getDirectory();
    llvm::sys::path::append(path, file->getFilename());
  }
  return std::string(path);
}

std::string PlaceNames::reference(const std::string& file, const llvm::DISubprogram& function) {
  const llvm::StringRef symbol = symbol_of(function);
  Fnv1a hash;
  hash.add(file);
  hash.add(symbol);
  const std::string reference = llvm::utohexstr(hash.hash(), /*LowerCase=*/true);
  const auto [place, is_new] = known_.try_emplace(reference);
  if (!is_new) return reference;
  text_ += reference + "\t" + escaped_field(file) + "\t" + escaped_field(symbol);
  if (path_of(function.getFile()) == file) text_ += "\t" + std::to_string(function.getLine());
  text_ += "\n";
  return reference;
}

std::string PlaceNames::reference(const llvm::DISubprogram& function) {
  return reference(path_of(function.getFile()), function);
}

std::string PlaceNames::take_text() {
  known_.clear();
  return std::exchange(text_, {});
}

PlaceNames& names_of_places() {
  static PlaceNames names;
  return names;
}

std::size_t PathScopes::number_of(const llvm::DILocation& location, std::string& text) {
  return number_of(*location.getScope(), location.getInlinedAt(), text);
}

std::size_t PathScopes::number_of(const llvm::DILocalScope& scope, const llvm::DILocation* call,
                                  std::string& text) {
  const auto known = numbers_.find({&scope, call});
  if (known != numbers_.end()) return known->second;
  const llvm::DISubprogram* const subprogram = scope.getSubprogram();
  // Callers come first.
  const std::size_t caller = call == nullptr ? 0 : number_of(*call, text);
  // Blocks of a subprogram's scope are one scope, unless they are in different files.
  std::string fields = "\t" + names_of_places().reference(path_of(scope.getFile()), *subprogram);
  if (call != nullptr)
    fields += "\t" + std::to_string(caller) + "\t" + std::to_string(call->getLine());
  const auto [place, is_new] = by_fields_.try_emplace(fields, by_fields_.size());
  if (is_new) text += "scope\t" + std::to_string(place->second) + fields + "\n";
  numbers_[{&scope, call}] = place->second;
  return place->second;
}

}  // namespace telltale::instrument
