#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

// Names of functions for coverage formats whose readers take functions of one name in one file for
// one function. docs/analysis/coverage.md, "Names of functions".

struct FunctionLine {
  std::string name;
  uint64_t line = 0;
};

// One name for each of a file's functions, in their order: the function's, followed by ":" and its
// line if the file has several functions of the name.
std::vector<std::string> unique_function_names(const std::vector<FunctionLine>& functions);

// The name as a field of an lcov tracefile: without blanks and commas, which end the field for
// lcov 1.16 or other readers.
std::string lcov_function_name(std::string_view name);

// The name of a file as lcov's format takes it: readers open the file by it, and undo no escapes,
// so only what would break the line, or a terminal, is made visible.
std::string lcov_file_name(const std::string& name);

}  // namespace telltale
