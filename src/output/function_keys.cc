#include "output/function_keys.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "output/escape.h"

namespace telltale {

std::vector<std::string> unique_function_names(const std::vector<FunctionLine>& functions) {
  std::map<std::string_view, size_t> counts;
  for (const FunctionLine& function : functions) ++counts[function.name];
  std::set<std::string> used;
  std::vector<std::string> names;
  for (const FunctionLine& function : functions) {
    const std::string with_line = fmt::format("{}:{}", function.name, function.line);
    std::string name = counts[function.name] == 1 ? function.name : with_line;
    for (size_t n = 2; !used.insert(name).second; ++n) name = fmt::format("{}:{}", with_line, n);
    names.push_back(std::move(name));
  }
  return names;
}

std::string lcov_function_name(std::string_view name) {
  std::string out;
  for (const char c : visible(name)) {
    if (c == ' ') {
      if (!out.empty() && out.back() != ';') out += '_';
    } else {
      out += c == ',' ? ';' : c;
    }
  }
  return out;
}

std::string lcov_file_name(const std::string& name) {
  const bool is_line = is_printable_utf8(name) && name.find('\n') == std::string::npos;
  return is_line ? name : visible(name);
}

}  // namespace telltale
