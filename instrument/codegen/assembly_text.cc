#include "codegen/assembly_text.h"

#include <algorithm>

namespace telltale::instrument {

std::string ascii_directives(llvm::StringRef text) {
  constexpr std::size_t kBytesPerDirective = 4096;
  std::string assembly;
  for (; !text.empty(); text = text.drop_front(std::min(kBytesPerDirective, text.size()))) {
    assembly += "\t.ascii \"";
    for (const char c : text.take_front(kBytesPerDirective)) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\' || byte < ' ' || byte > '~') {
        assembly += '\\';
        for (const int shift : {6, 3, 0}) assembly += static_cast<char>('0' + (byte >> shift & 7));
      } else {
        assembly += c;
      }
    }
    assembly += "\"\n";
  }
  return assembly;
}

}  // namespace telltale::instrument
