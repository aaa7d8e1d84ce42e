#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "import/stack_paths.h"
#include "model/name_style.h"

namespace telltale {

// What of paths people see.
struct PathsView {
  NameStyle names = NameStyle::short_names;
  // Lines of functions that were inlined from headers of the system: in programs that use the
  // standard library's containers, most of all lines.
  bool system_headers = false;
};

// Whether a file belongs to the compiler, its libraries or the system's packages, by its path.
bool is_system_header(std::string_view path);

// Names of functions in a style, each made once.
class ViewedNames {
 public:
  explicit ViewedNames(NameStyle style) : style_(style) {}
  // A function with this demangled name and this linker's name (empty: unknown).
  const std::string& of(const std::string& name, const std::string& linkage_name);
  // A function with this linker's name, beside a line of it: a short name has no parameters.
  const std::string& beside_line(const std::string& linkage_name);

 private:
  NameStyle style_;
  std::unordered_map<std::string, std::string> by_name_;
  std::unordered_map<std::string, std::string> by_linkage_;
};

// "second, local in file.c": the other functions that the frame may be of.
std::string others_at_address(const FramePaths& frame, ViewedNames& names);

}  // namespace telltale
