#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "output/flame/page_room.h"
#include "output/json_writer.h"
#include "report/paths/source_lines.h"

namespace telltale {

// The source files that a page shows: of each, the lines that are used and some around them.
class PageSources {
 public:
  // `lines` must outlive it.
  explicit PageSources(SourceLines& lines) : lines_(lines) {}

  // Returns the number of the file in the page. `line` is 0 or one that is to be shown.
  size_t use(const std::string& file, const std::string& directory, uint32_t line);
  // A list of {file, first, lines, changed?}, as docs/design/page-kit.md describes a source; a file
  // that is not here, or has no room, has no lines.
  void write(JsonWriter& json, PageRoom& room);

 private:
  struct File {
    std::string file;
    std::string directory;
    uint32_t first = 0;  // line; 0: none yet
    uint32_t last = 0;
  };
  std::vector<File> files_;
  std::map<std::pair<std::string, std::string>, size_t> numbers_;  // by directory and file
  SourceLines& lines_;
};

}  // namespace telltale
