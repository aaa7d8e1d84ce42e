// Line tables of any bytes: no crash; problems have a place inside the input; paths are plain and
// bounded. The first byte is the size of the strings at the end, in 64 bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/plain_path.h"
#include "fuzz_checks.h"
#include "program/line_table_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace telltale;
  if (size == 0) return 0;
  const Bytes file = std::as_bytes(std::span(data, size));
  const size_t strings = std::min(size - 1, size_t{data[0]} * 64);
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    ProblemLog problems;
    uint64_t names = 0;
    read_line_table_files(
        {.lines = file.subspan(1, size - 1 - strings),
         .line_strings = file.last(strings),
         .strings = file.last(strings / 2),
         .order = order,
         .file = "f",
         .offset = 1},
        [&](std::string_view path, const Md5&) {
          names += path.size();
          fuzz::require(path == plain_path(path), "a path is plain");
          fuzz::require(path.size() <= 4096, "a path can be opened");
        },
        problems);
    fuzz::require(names <= 64 * size + 70'000, "names are in proportion to the tables");
    fuzz::require_placed(problems, file);
    fuzz::require(!problems.damaged(), "damage is an oddity");
  }
  return 0;
}
