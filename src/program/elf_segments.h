#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "bytes/cursor.h"

namespace telltale {

// A program header. Its bytes need not lie inside the file: core files are often cut.
struct ElfSegment {
  uint32_t type = 0;    // PT_*
  uint32_t flags = 0;   // PF_*
  uint64_t offset = 0;  // in the file
  uint64_t address = 0;
  uint64_t file_size = 0;    // bytes
  uint64_t memory_size = 0;  // bytes
};

// What the kernel and loaders see of an ELF file (System V gABI, chapter 5).
struct ElfSegments {
  std::endian order = std::endian::little;
  bool is_64_bit = true;
  uint16_t type = 0;     // ET_*
  uint16_t machine = 0;  // EM_*
  uint64_t headers_offset = 0;
  std::vector<ElfSegment> segments;
  uint64_t missing = 0;  // announced headers that the file has no room for

  // The address minus link-time address of a file that is mapped so that the byte at `file_offset`
  // is at `address`. Zero if no loadable segment has that byte.
  [[nodiscard]] uint64_t load_bias(uint64_t file_offset, uint64_t address) const;
};

// True for an ELF file of type ET_CORE.
bool is_core_file(Bytes file);

// Safe on untrusted input. Errors: bad_magic, truncated (only the header itself), bad_field;
// placed.
Result<ElfSegments> read_elf_segments(Bytes file, const std::string& name);

// The GNU build-id in a note segment's bytes as lower-case hex digits; empty if there is none.
std::string build_id_of_notes(Bytes notes, std::endian order);

}  // namespace telltale
