#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace telltale {

// What a recording says of a program or shared object that ran. The path is text from a recording:
// never trusted.
struct ProgramIdentity {
  std::string path;
  std::string build_id;     // lower-case hex digits; empty: it has none
  uint64_t file_bytes = 0;  // 0: not known
  int64_t modified_ns = 0;  // since 1970; 0: not known
};

// True for a path that may be opened because a recording names it: absolute, of an existing regular
// file, and not below /proc, /sys or /dev.
bool may_open_recorded_path(const std::string& path);

// Whether the file at `path` is the program that was recorded: by build-id; by size and time of
// change when it has none. Errors: io; bad_field, with both identities, when it is another one or
// cannot be compared.
Result<void> check_recorded_program(const ProgramIdentity& recorded, const std::string& path);

// The build-id of the file at `path` as lower-case hex digits; empty when it has none. Errors: io,
// what ElfImage::read says.
Result<std::string> read_build_id(const std::string& path);

}  // namespace telltale
