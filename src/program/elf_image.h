#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bytes/cursor.h"

namespace telltale {

struct ElfSection {
  std::string_view name;     // bytes of the file, never trusted; empty if not in the name table
  uint32_t name_offset = 0;  // in the section name table
  uint32_t index = 0;
  uint32_t type = 0;  // SHT_*
  uint64_t flags = 0;
  uint64_t address = 0;  // link-time; 0 in object files
  uint64_t offset = 0;   // in the file
  uint64_t size = 0;     // bytes; in the file unless type is SHT_NOBITS
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t entry_size = 0;
};

// One relocation of an ELF file. Places are addresses in linked files, and offsets into the target
// section in object files.
struct ElfRelocation {
  uint64_t place = 0;
  uint32_t symbol = 0;  // index in the symbol table that the relocation section links to; 0 is none
  uint32_t type = 0;    // R_*; for mips64 the first of its three types
  int64_t addend = 0;
};

struct ElfSymbol {
  std::string_view name;
  uint64_t value = 0;
  uint64_t size = 0;
  uint32_t section = 0;  // 0: undefined
  uint8_t info = 0;
};

// The headers and section table of an ELF file, 32 or 64 bit, either byte order (System V gABI,
// chapters 4 and 5). Holds views: the bytes must outlive it. Safe on untrusted input: every section
// of sections() lies inside the file. Does not run or map the program.
class ElfImage {
 public:
  // True for the four magic bytes.
  static bool recognises(Bytes bytes);
  // Errors: bad_magic, truncated, bad_field; placed.
  static Result<ElfImage> read(Bytes bytes, std::string file);

  [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
  [[nodiscard]] std::endian order() const { return order_; }
  [[nodiscard]] bool is_64_bit() const { return is_64_bit_; }
  [[nodiscard]] uint16_t machine() const { return machine_; }  // EM_*
  [[nodiscard]] std::string machine_name() const;              // "x86-64", "machine 999"
  [[nodiscard]] uint16_t type() const { return type_; }        // ET_*
  [[nodiscard]] bool is_object_file() const;                   // ET_REL: not linked yet
  // The GNU build-id as lower-case hex digits; empty if there is none.
  [[nodiscard]] std::string build_id() const;

  // The section's bytes; empty for SHT_NOBITS.
  [[nodiscard]] Bytes bytes(const ElfSection& section) const;
  [[nodiscard]] Cursor cursor(const ElfSection& section) const;
  // The size of one entry of a relocation section, and the entry at `index`, which must exist.
  [[nodiscard]] uint64_t relocation_size(const ElfSection& section) const;
  [[nodiscard]] ElfRelocation relocation(const ElfSection& section, uint64_t index) const;
  // Symbol `index` of a symbol table section; errors: bad_field if there is none.
  [[nodiscard]] Result<ElfSymbol> symbol(const ElfSection& table, uint32_t index) const;
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] uint64_t size() const { return bytes_.size(); }  // of the file

 private:
  ElfImage() = default;
  struct Header;
  Result<Header> read_header();
  Result<void> read_sections(Header& header);
  Result<void> check_extents() const;
  Result<void> name_sections(uint32_t names_index);
  [[nodiscard]] Result<uint32_t> count_sections(const Header& header,
                                                const ElfSection& first) const;
  ElfSection read_section(Cursor& in, uint32_t index) const;
  uint64_t read_word(Cursor& in, std::string_view field) const;
  [[nodiscard]] std::unexpected<Error> error(uint64_t offset, std::string_view record,
                                             Error::Cause cause, std::string detail) const;

  Bytes bytes_;
  std::string file_;
  std::endian order_ = std::endian::little;
  bool is_64_bit_ = true;
  uint16_t type_ = 0;
  uint16_t machine_ = 0;
  std::vector<ElfSection> sections_;
};

}  // namespace telltale
