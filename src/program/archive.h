#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

// A file in an archive of object files, without the archive's own index.
struct ArchiveMember {
  std::string name;  // from the archive, never trusted
  uint64_t offset = 0;
  Bytes bytes;         // of the archive
  bool apart = false;  // of a thin archive: a file of that name, from the archive's folder on
};

// True for what begins as an ar archive, thin ones included.
bool is_archive(Bytes file);

// The members of an ar archive as System V and GNU write it (ar(5)): names of up to 15 characters
// ended by a slash, or in the table of long names; also BSD's names in front of the bytes. A member
// that the file ends inside of is given as far as it goes, with a problem. A thin archive has names
// alone. Errors: bad_magic.
Result<std::vector<ArchiveMember>> read_archive(Bytes file, const std::string& path,
                                                ProblemLog& problems);

}  // namespace telltale
