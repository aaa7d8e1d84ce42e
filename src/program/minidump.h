#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "program/core_file.h"

namespace telltale {

// An entry of a minidump's stream directory.
struct MinidumpStream {
  uint32_t type = 0;
  uint64_t offset = 0;  // in the file
  uint64_t size = 0;    // bytes
};

// A minidump of a Linux process on x86-64 or AArch64, as Breakpad, Crashpad, rust-minidump and LLDB
// write it (MINIDUMP_HEADER and following structures of Microsoft's minidumpapiset.h; Linux streams
// of Breakpad's minidump_format.h). `parts.memory` refers to the bytes of the file.
struct Minidump {
  CoreParts parts;
  std::vector<MinidumpStream> streams;
  // The file ends before, or inside, what names its modules.
  bool lacks_modules = false;
};

// True for the signature "MDMP".
bool is_minidump(Bytes file);

// Safe on untrusted input: a file that is cut yields what is left, and problems. Errors: bad_magic,
// truncated (the header itself), unsupported_version.
Result<Minidump> read_minidump(Bytes file, const std::string& name, ProblemLog& problems);

// "ThreadListStream", or the number.
std::string minidump_stream_name(uint32_t type);

}  // namespace telltale
