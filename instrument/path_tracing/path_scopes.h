// Places in source code, as records name them.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include <cstddef>
#include <string>
#include <utility>

namespace telltale::instrument {

// Fields of records end with a tab or a line feed.
std::string escaped_field(llvm::StringRef text);

// The linker's name.
llvm::StringRef symbol_of(const llvm::DISubprogram& subprogram);

// A file's path, with the compilation's folder if the compiler was given a relative one. Empty:
// unknown.
std::string path_of(const llvm::DIFile* file);

// The table of names of a module. C++ has long names, and the same functions are inlined in many
// places, so records contain a short reference instead of a name (docs/formats/csi.md, "Names").
class PlaceNames {
 public:
  // Returns the reference to a function's symbol and a file that it has code of, and adds them to
  // the table, with the line of its declaration if it is in that file.
  std::string reference(const std::string& file, const llvm::DISubprogram& function);
  // The same with the file of the declaration.
  std::string reference(const llvm::DISubprogram& function);
  // Returns the text of the table's record, in the order of the first references, and empties
  // the table.
  std::string take_text();

 private:
  llvm::StringSet<> known_;
  std::string text_;
};

// The table of the module that is being compiled.
PlaceNames& names_of_places();

// Scopes of a function: the function itself, and callees that were inlined.
class PathScopes {
 public:
  // The number of the scope of `location`; appends new scopes to `text`.
  std::size_t number_of(const llvm::DILocation& location, std::string& text);
  // The same of a scope that was inlined at `call`, or not if `call` is null.
  std::size_t number_of(const llvm::DILocalScope& scope, const llvm::DILocation* call,
                        std::string& text);

 private:
  llvm::DenseMap<std::pair<const void*, const void*>, std::size_t> numbers_;
  llvm::StringMap<std::size_t> by_fields_;
};

}  // namespace telltale::instrument
