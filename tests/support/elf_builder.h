#pragma once

// A small ELF file written down in a test, section by section:
//
//   ElfBuilder elf;
//   elf.add({.name = "xray_instr_map", .address = 0x1000, .bytes =
//   InstrMapBuilder().entry(...).bytes()}); const std::string file = elf.build();

#include <elf.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "bytes/as_bytes.h"
#include "bytes/byte_writer.h"

namespace telltale::testing {

struct ElfBuilder {
  struct Section {
    std::string name = {};
    uint32_t type = SHT_PROGBITS;
    uint64_t flags = SHF_ALLOC;
    uint64_t address = 0;
    std::string bytes = {};
    uint32_t link = 0;
    uint32_t info = 0;
    uint64_t size_without_bytes = 0;  // of SHT_NOBITS
  };

  std::endian order = std::endian::little;
  bool is_64_bit = true;
  uint16_t type = ET_EXEC;
  uint16_t machine = EM_X86_64;

  // Returns the section's index.
  uint32_t add(Section section) {
    sections.push_back(std::move(section));
    return static_cast<uint32_t>(sections.size());
  }

  // Header, contents in order, section names, section table.
  [[nodiscard]] std::string build() const {
    const size_t header_size = is_64_bit ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    std::string contents;
    std::string names(1, '\0');
    ByteWriter table(order);
    write_section(table, 0, {.type = SHT_NULL, .flags = 0}, 0);
    for (const Section& section : sections) {
      contents.resize((contents.size() + 7) / 8 * 8);
      write_section(table, names.size(), section, header_size + contents.size());
      names += section.name + '\0';
      contents += section.bytes;
    }
    const Section name_table{.name = ".shstrtab", .type = SHT_STRTAB, .flags = 0, .bytes = {}};
    const size_t names_offset = header_size + contents.size();
    const size_t own_name = names.size();
    names += name_table.name + '\0';
    Section with_names = name_table;
    with_names.bytes = names;
    write_section(table, own_name, with_names, names_offset);
    contents += names;
    contents.resize((contents.size() + 7) / 8 * 8);
    return header(header_size + contents.size()) + contents + table.bytes();
  }

  std::vector<Section> sections;

 private:
  void write_word(ByteWriter& out, uint64_t word) const {
    if (is_64_bit) {
      out.write(word);
    } else {
      out.write(static_cast<uint32_t>(word));
    }
  }
  void write_section(ByteWriter& out, size_t name, const Section& section, size_t offset) const {
    out.write(static_cast<uint32_t>(name)).write(section.type);
    write_word(out, section.flags);
    write_word(out, section.address);
    write_word(out, section.type == SHT_NULL ? 0 : offset);
    write_word(out, section.type == SHT_NOBITS ? section.size_without_bytes : section.bytes.size());
    out.write(section.link).write(section.info);
    write_word(out, 1);
    write_word(out, 0);
  }
  [[nodiscard]] std::string header(size_t table_offset) const {
    ByteWriter out(order);
    out.write(uint8_t{0x7f}).write('E').write('L').write('F');
    out.write(static_cast<uint8_t>(is_64_bit ? ELFCLASS64 : ELFCLASS32));
    out.write(static_cast<uint8_t>(order == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB));
    out.write(static_cast<uint8_t>(EV_CURRENT)).zeros(9);
    out.write(type).write(machine).write(uint32_t{EV_CURRENT});
    write_word(out, 0);
    write_word(out, 0);
    write_word(out, table_offset);
    out.zeros(4).zeros(6);
    out.write(static_cast<uint16_t>(is_64_bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)));
    out.write(static_cast<uint16_t>(sections.size() + 2));
    out.write(static_cast<uint16_t>(sections.size() + 1));
    return out.take();
  }
};

// Entries of xray_instr_map, as stored in the file.
class InstrMapBuilder {
 public:
  explicit InstrMapBuilder(std::endian order = std::endian::little, bool is_64_bit = true)
      : out_(order), is_64_bit_(is_64_bit) {}
  // The two words as stored, whatever they mean in the version.
  InstrMapBuilder& stored(uint64_t address, uint64_t function, uint8_t kind, uint8_t always,
                          uint8_t version) {
    write_word(address);
    write_word(function);
    out_.write(kind).write(always).write(version);
    for (size_t i = 3; i < (is_64_bit_ ? 16U : 8U); ++i)
      out_.write(uint8_t{0xaa});  // writers leave arbitrary bytes
    return *this;
  }
  // A version 2 entry of a section at address `section`.
  InstrMapBuilder& relative(uint64_t section, uint64_t address, uint64_t function, uint8_t kind,
                            uint8_t always = 0) {
    const uint64_t at = section + out_.size();
    return stored(address - at, function - (at + (is_64_bit_ ? 8 : 4)), kind, always, 2);
  }
  [[nodiscard]] std::string bytes() const { return out_.bytes(); }

 private:
  void write_word(uint64_t word) {
    if (is_64_bit_) {
      out_.write(word);
    } else {
      out_.write(static_cast<uint32_t>(word));
    }
  }
  ByteWriter out_;
  bool is_64_bit_;
};

}  // namespace telltale::testing
