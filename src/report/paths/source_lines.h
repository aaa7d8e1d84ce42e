#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/input_file.h"

namespace telltale {

// The text of source files that debug information names, as far as they are on this machine.
class SourceLines {
 public:
  // The line, without its line feed and the blanks at its end; empty if it is not known. A relative
  // `file` is in `directory`. Both are not trusted: only regular files are read.
  std::string_view line(const std::string& file, const std::string& directory, uint32_t number);
  // How many lines the file has; 0 if it cannot be read.
  size_t count(const std::string& file, const std::string& directory);

 private:
  struct Source {
    InputFile input;
    std::vector<std::string_view> lines;
  };
  const std::vector<std::string_view>& lines_of_file(const std::string& file,
                                                     const std::string& directory);
  std::map<std::string, Source> sources_;  // by path; no lines: it cannot be read
};

}  // namespace telltale
