// Translates the driver's command line to clang's.
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
  std::vector<std::string> warnings;
  // To be printed on terminals only: configure scripts take any output of a compiler for a failure.
  std::optional<std::string> note;
  // Sources in C or C++ are compiled without instrumentation.
  bool has_plain_source = false;
  // One of the arguments is kSchemaOfInput: the caller replaces it by one that names a file.
  bool reads_schema = false;
};

// For the plugin: the schema is on standard input.
inline constexpr char kSchemaOfInput[] = "--trace=-";

// `given` is without argument 0. Sampler options go to the plugin, and a link gets the runtime; all
// else is passed on.
CommandLine rewrite(const std::vector<std::string>& given, const Installation& installation);

// The same words without the options of telltale-cc: for tools that read clang's command lines.
std::vector<std::string> without_own_options(const std::vector<std::string>& given);

// The words of a response file by GNU's rules: white space separates words; quotes and backslashes
// protect it.
std::vector<std::string> words_of(const std::string& text);

}  // namespace telltale::driver
