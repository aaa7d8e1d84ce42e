#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/events.h"

namespace telltale {

// Facts about a function. Empty strings and 0 mean unknown. Names are as in the program: never
// trusted, escaped for output.
struct FunctionInfo {
  std::string
      name;  // as the programmer writes it (demangled); never empty: "#17" for an unknown id 17
  std::string linkage_name;  // the linker's name
  std::string file;
  uint32_t line = 0;
  std::string module;  // path of the program or shared object
};

// Maps ids to names. describe() may be slow the first time (symbols, DWARF); it is thread-safe, and
// the reference stays valid as long as the object.
class FunctionNames {
 public:
  FunctionNames() = default;
  FunctionNames(const FunctionNames&) = delete;
  FunctionNames& operator=(const FunctionNames&) = delete;
  virtual ~FunctionNames() = default;
  [[nodiscard]] virtual const FunctionInfo& describe(FunctionId id) const = 0;
};

}  // namespace telltale
