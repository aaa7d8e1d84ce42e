#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace telltale {

// How a recording describes a program or shared object that ran. The path is text from a recording:
// never trusted.
struct ProgramIdentity {
  std::string path;
  std::string build_id;     // lower-case hex digits; empty: none
  uint64_t file_bytes = 0;  // 0: unknown
  int64_t modified_ns = 0;  // since 1970; 0: unknown
};

// True if a path from a recording may be opened: absolute, of an existing regular file, and not
// below /proc, /sys or /dev.
bool may_open_recorded_path(const std::string& path);

// Whether the file at `path` is the recorded program: by build-id, or by size and modification time
// if it has none. Errors: io; bad_field, with both identities, if it is another one or cannot be
// compared.
Result<void> check_recorded_program(const ProgramIdentity& recorded, const std::string& path);

// The build-id of the file at `path` as lower-case hex digits; empty if it has none. Errors: io,
// those of ElfImage::read.
Result<std::string> read_build_id(const std::string& path);

}  // namespace telltale
