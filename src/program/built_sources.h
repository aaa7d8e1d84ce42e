#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"
#include "program/line_table_files.h"

namespace telltale {

// Source files whose text is not that of the program, by path; the sentences are those of
// BuiltSources::complaint.
using ChangedSources = std::map<std::string, std::string_view>;

// What programs were compiled from, to tell whether the source files that are here still have that
// text: by the checksums of the programs' line tables, and of files without one by their times.
class BuiltSources {
 public:
  // Adds a linked ELF file; nothing, if `program` is none. `debug_file`: what has its debug
  // information, the same or a separate debug file; empty or unreadable: nothing is known but the
  // program's time. What is damaged goes to `problems` as oddities.
  void add(const std::string& program, const std::string& debug_file, ProblemLog& problems);
  void merge(const BuiltSources& other);

  // Why the lines of the file at `path`, which has this text, may not be those of the programs: a
  // sentence without a full stop. Empty: they are, or nothing is known. A file that differs from
  // what one of several compilations used has changed. A path that no checksum is of is compared
  // with the programs' time, unless some file that they were compiled from had this text.
  [[nodiscard]] std::string_view complaint(const std::string& path, Bytes text) const;

 private:
  struct Checksum {
    uint64_t path = 0;  // fnv1a() of plain_path()
    Md5 md5{};
    auto operator<=>(const Checksum&) const = default;
  };
  void sort();

  std::vector<std::pair<std::string, std::string>> added_;  // programs and debug files
  std::vector<Checksum> checksums_;                         // sorted, each once
  int64_t built_ns_ = 0;  // when the newest program was modified, since 1970; 0: there is none
};

}  // namespace telltale
