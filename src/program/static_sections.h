#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

// A section of an ELF file that is only read by tools.
struct StaticSection {
  std::string member;   // in an archive: the object file's name; otherwise empty
  uint64_t offset = 0;  // of its bytes in the file; of a compressed section: of the compressed ones
  Bytes bytes;          // of the file, or of `unpacked`
  std::shared_ptr<const std::string> unpacked;  // for a compressed section, or a thin archive
  std::endian order = std::endian::little;      // of the ELF file
  // Whether a linker has left out what nothing uses: not in an object file.
  bool is_linked = false;
};

struct StaticSections {
  std::vector<StaticSection> sections;  // in file order; linkers may leave several
  size_t objects = 0;  // ELF files that were read: 1, or the number of such members of the archive
};

// True for an ELF file or an archive.
bool may_have_static_sections(Bytes file);

// All sections with that name of an executable, shared library, object file, separate debug file or
// archive of object files. Compressed sections (gABI, SHF_COMPRESSED; zlib and zstd) are unpacked,
// and those that GNU tools have renamed: .zdebug_x is found as .debug_x. Damage goes to `problems`:
// an unreadable member, a section that cannot be unpacked. Holds views: the bytes must outlive it.
// Errors: bad_magic for any other file; those of ElfImage::read and read_archive.
Result<StaticSections> read_static_sections(Bytes file, const std::string& path,
                                            std::string_view section, ProblemLog& problems);

}  // namespace telltale
