// What the drivers make of their command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace telltale::driver {

struct Installation {
  std::string clang;    // the compiler to run
  std::string plugin;   // for that release of clang
  std::string library;  // the folder of the runtime
  int release = 0;      // of clang
};

struct CommandLine {
  std::vector<std::string> arguments;  // for clang, without argument 0
  std::optional<std::string> error;
};

// `given` without argument 0. Options of the sampler go to the plugin; a link gets the runtime, all
// else is clang's.
CommandLine rewrite(const std::vector<std::string>& given, const Installation& installation);

// The words of a response file, by GNU's rules: white space parts, quotes and backslashes keep.
std::vector<std::string> words_of(const std::string& text);

}  // namespace telltale::driver
