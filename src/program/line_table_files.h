#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

using Md5 = std::array<uint8_t, 16>;

// The sections of a linked program or of its separate debug file that line tables are in. Views.
struct LineTables {
  Bytes lines;         // .debug_line
  Bytes line_strings;  // .debug_line_str
  Bytes strings;       // .debug_str
  std::endian order = std::endian::little;
  std::string file;     // that has them, for problems
  uint64_t offset = 0;  // of `lines` in the file
};

// `path` is plain_path() of the name that the compiler was given, below the folder that it ran in;
// never trusted.
using UseSourceFile = std::function<void(std::string_view path, const Md5& checksum)>;

// Calls `use` for each source file of which a line table has a checksum (DWARF 5, sections 6.2.4
// and 6.2.4.1): in the order of the tables, a file of several tables several times. clang writes
// checksums, g++ does not; tables of other versions of DWARF have none. Names of more than 4,096
// bytes are skipped. Damage goes to `problems` as an oddity; of a damaged table the rest is
// skipped.
void read_line_table_files(const LineTables& tables, const UseSourceFile& use,
                           ProblemLog& problems);

}  // namespace telltale
