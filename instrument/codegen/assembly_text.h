// Texts in assembly.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

namespace telltale::instrument {

// `.ascii` directives that emit the bytes of a text.
std::string ascii_directives(llvm::StringRef text);

}  // namespace telltale::instrument
