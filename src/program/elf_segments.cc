#include "program/elf_segments.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "program/elf_image.h"
#include "program/elf_notes.h"

namespace telltale {
namespace {

constexpr uint64_t kPage = 4096;  // the smallest; addresses and offsets are equal modulo it

uint64_t read_word(Cursor& in, bool is_64_bit, std::string_view field) {
  return is_64_bit ? in.read<uint64_t>(field) : in.read<uint32_t>(field);
}

ElfSegment read_segment(Cursor& in, bool is_64_bit) {
  ElfSegment segment;
  segment.type = in.read<uint32_t>("p_type");
  if (is_64_bit) segment.flags = in.read<uint32_t>("p_flags");
  segment.offset = read_word(in, is_64_bit, "p_offset");
  segment.address = read_word(in, is_64_bit, "p_vaddr");
  read_word(in, is_64_bit, "p_paddr");
  segment.file_size = read_word(in, is_64_bit, "p_filesz");
  segment.memory_size = read_word(in, is_64_bit, "p_memsz");
  if (!is_64_bit) segment.flags = in.read<uint32_t>("p_flags");
  read_word(in, is_64_bit, "p_align");
  return segment;
}

// A count that does not fit its 16 bits is in the field sh_info of section header 0.
uint64_t count_in_section_header(Bytes file, uint64_t offset, const ElfSegments& elf) {
  if (offset >= file.size()) return 0;
  Cursor in(file.subspan(static_cast<size_t>(offset)), elf.order, offset);
  in.take(elf.is_64_bit ? 44 : 28, "section header 0");
  return in.read<uint32_t>("sh_info");
}

}  // namespace

bool is_core_file(Bytes file) {
  if (!ElfImage::recognises(file) || file.size() < EI_NIDENT + 2) return false;
  const bool little = std::to_integer<unsigned>(file[EI_DATA]) != ELFDATA2MSB;
  Cursor in(file.subspan(EI_NIDENT), little ? std::endian::little : std::endian::big);
  return in.read<uint16_t>("e_type") == ET_CORE;
}

Result<ElfSegments> read_elf_segments(Bytes file, const std::string& name) {
  const auto fail = [&](uint64_t offset, Error::Cause cause, std::string detail) {
    return std::unexpected(Error{cause, name, "ELF header", std::move(detail), offset});
  };
  if (!ElfImage::recognises(file)) return fail(0, Error::Cause::bad_magic, "not an ELF file");
  Cursor identification(file);
  identification.begin_record("ELF header");
  const Bytes ident = identification.take(EI_NIDENT, "e_ident");
  if (ident.size() < EI_NIDENT)
    return fail(file.size(), Error::Cause::truncated, "the identification needs 16 bytes");
  const auto elf_class = std::to_integer<unsigned>(ident[EI_CLASS]);
  const auto encoding = std::to_integer<unsigned>(ident[EI_DATA]);
  if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64) {
    return fail(EI_CLASS, Error::Cause::bad_field,
                fmt::format("class {} is neither 1 nor 2", elf_class));
  }
  if (encoding != ELFDATA2LSB && encoding != ELFDATA2MSB) {
    return fail(EI_DATA, Error::Cause::bad_field,
                fmt::format("data encoding {} is neither 1 nor 2", encoding));
  }
  ElfSegments elf;
  elf.is_64_bit = elf_class == ELFCLASS64;
  elf.order = encoding == ELFDATA2LSB ? std::endian::little : std::endian::big;
  Cursor in(file, elf.order);
  in.begin_record("ELF header");
  in.take(EI_NIDENT, "e_ident");
  elf.type = in.read<uint16_t>("e_type");
  elf.machine = in.read<uint16_t>("e_machine");
  in.read<uint32_t>("e_version");
  read_word(in, elf.is_64_bit, "e_entry");
  elf.headers_offset = read_word(in, elf.is_64_bit, "e_phoff");
  const uint64_t sections_offset = read_word(in, elf.is_64_bit, "e_shoff");
  in.take(6, "e_flags and e_ehsize");
  const auto entry_size = in.read<uint16_t>("e_phentsize");
  uint64_t count = in.read<uint16_t>("e_phnum");
  if (in.error()) {
    Error placed = *in.error();
    placed.file = name;
    return std::unexpected(std::move(placed));
  }
  const uint64_t size = elf.is_64_bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  if (count == 0) return elf;
  if (entry_size != size) {
    return fail(elf.is_64_bit ? 54 : 42, Error::Cause::bad_field,
                fmt::format("e_phentsize is {}, program headers have {} bytes", entry_size, size));
  }
  if (count == PN_XNUM) count = count_in_section_header(file, sections_offset, elf);
  const uint64_t begin = std::min<uint64_t>(elf.headers_offset, file.size());
  const uint64_t room = (file.size() - begin) / size;
  elf.missing = count - std::min(count, room);
  Cursor headers(file.subspan(static_cast<size_t>(begin)), elf.order, begin);
  elf.segments.reserve(static_cast<size_t>(count - elf.missing));
  for (uint64_t i = 0; i < count - elf.missing; ++i)
    elf.segments.push_back(read_segment(headers, elf.is_64_bit));
  return elf;
}

uint64_t ElfSegments::load_bias(uint64_t file_offset, uint64_t address) const {
  for (const ElfSegment& segment : segments) {
    const uint64_t begin = segment.offset - segment.offset % kPage;
    if (segment.type != PT_LOAD || file_offset < begin ||
        file_offset - begin >= segment.file_size + segment.offset % kPage)
      continue;
    return address - (segment.address - segment.offset + file_offset);
  }
  return 0;
}

std::string build_id_of_notes(Bytes notes, std::endian order) {
  std::string id;
  for_each_elf_note(Cursor(notes, order), [&](const ElfNote& note) {
    if (note.type != NT_GNU_BUILD_ID || note.name != "GNU" || !id.empty()) return;
    for (const std::byte byte : note.bytes)
      id += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  });
  return id;
}

}  // namespace telltale
