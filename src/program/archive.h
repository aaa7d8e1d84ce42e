#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

// A file in an archive of object files; the archive's own index is not one.
struct ArchiveMember {
  std::string name;  // from the archive, never trusted
  uint64_t offset = 0;
  Bytes bytes;         // of the archive
  bool apart = false;  // in a thin archive: a separate file, relative to the archive's folder
};

// True for ar archives, thin ones included.
bool is_archive(Bytes file);

// The members of an ar archive as System V and GNU write it (ar(5)): names of up to 15 characters
// that end with a slash, or in the table of long names; also BSD names before the bytes. A
// truncated member is returned as far as it goes, with a problem. A thin archive contains only
// names. Errors: bad_magic.
Result<std::vector<ArchiveMember>> read_archive(Bytes file, const std::string& path,
                                                ProblemLog& problems);

}  // namespace telltale
