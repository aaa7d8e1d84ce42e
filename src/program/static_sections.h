#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

// A section of an ELF file that only tools read.
struct StaticSection {
  std::string member;   // of an archive: the object file's name; else empty
  uint64_t offset = 0;  // of its bytes in the file; of a compressed section: of the compressed ones
  Bytes bytes;          // of the file, or of `unpacked`
  std::shared_ptr<const std::string> unpacked;  // of a compressed section, or of a thin archive
};

struct StaticSections {
  std::vector<StaticSection> sections;  // in the order of the file; linkers may leave several
  size_t objects = 0;  // ELF files that were looked into: 1, or the archive's members that are such
};

// True for an ELF file or an archive.
bool may_have_static_sections(Bytes file);

// All sections of that name of an executable, shared library, object file, separate debug file or
// archive of object files; those that a linker or objcopy compressed (gABI, SHF_COMPRESSED; zlib
// and zstd) are unpacked. What is damaged goes to `problems`: a member that cannot be read, a
// section that cannot be unpacked. Holds views: the bytes must outlive it. Errors: bad_magic for
// anything else; what ElfImage::read and read_archive say.
Result<StaticSections> read_static_sections(Bytes file, const std::string& path,
                                            std::string_view section, ProblemLog& problems);

}  // namespace telltale
