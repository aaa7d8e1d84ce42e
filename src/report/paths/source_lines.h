#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/input_file.h"
#include "program/built_sources.h"

namespace telltale {

// The text of source files that debug information names, as far as they are on this machine, and
// whether it is still that of the programs. Files are read when they are first asked for.
class SourceLines {
 public:
  explicit SourceLines(BuiltSources built) : built_(std::move(built)) {}

  // The line, without its line feed and the blanks at its end; empty if it is not known. A relative
  // `file` is in `directory`. Both are not trusted: only regular files are read.
  std::string_view line(const std::string& file, const std::string& directory, uint32_t number);
  // How many lines the file has; 0 if it cannot be read.
  size_t count(const std::string& file, const std::string& directory);
  // BuiltSources::complaint() of the file; empty also if it cannot be read.
  std::string_view complaint(const std::string& file, const std::string& directory);
  // The changed files among those whose lines were asked for.
  [[nodiscard]] ChangedSources changed() const;

 private:
  struct Source {
    InputFile input;
    std::vector<std::string_view> lines;
    std::string_view complaint;
  };
  const Source& source_of(const std::string& file, const std::string& directory);

  BuiltSources built_;
  std::map<std::string, Source> sources_;  // by plain path; no lines: it cannot be read
};

}  // namespace telltale
