#include "program/elf_image.h"

#include <elf.h>
#include <fmt/format.h>

#include <utility>

namespace telltale {

namespace {

// Newer than the <elf.h> of the build machine.
constexpr uint16_t kMachineHexagon = 164;
constexpr uint16_t kMachineLoongArch = 258;
constexpr uint64_t kIdentSize = 16;
constexpr size_t kMaxName = 65536;
constexpr uint32_t kMaxBuildId = 64;
constexpr std::string_view kElfMagic =
    "\x7f"
    "ELF";

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The zero-terminated text at `offset` of a string table; empty if it does not end within kMaxName
// bytes, so that many names that share one endless table cost no more than their number.
std::string_view text_at(Bytes table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = text_of(table).substr(static_cast<size_t>(offset), kMaxName);
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

uint64_t section_header_size(bool is_64_bit) {
  return is_64_bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

}  // namespace

struct ElfImage::Header {
  uint64_t sections_offset = 0;
  uint64_t section_entry_size = 0;
  uint64_t section_count = 0;
  uint32_t names_index = 0;
};

bool ElfImage::recognises(Bytes bytes) {
  return bytes.size() >= kElfMagic.size() && text_of(bytes.first(kElfMagic.size())) == kElfMagic;
}

std::unexpected<Error> ElfImage::error(uint64_t offset, std::string_view record, Error::Cause cause,
                                       std::string detail) const {
  return std::unexpected(Error{cause, file_, std::string(record), std::move(detail), offset});
}

uint64_t ElfImage::read_word(Cursor& in, std::string_view field) const {
  return is_64_bit_ ? in.read<uint64_t>(field) : in.read<uint32_t>(field);
}

Result<ElfImage> ElfImage::read(Bytes bytes, std::string file) {
  ElfImage image;
  image.bytes_ = bytes;
  image.file_ = std::move(file);
  Result<Header> header = image.read_header();
  if (!header) return std::unexpected(header.error());
  if (auto read = image.read_sections(*header); !read) return std::unexpected(read.error());
  if (auto checked = image.check_extents(); !checked) return std::unexpected(checked.error());
  if (auto named = image.name_sections(header->names_index); !named)
    return std::unexpected(named.error());
  return image;
}

Result<ElfImage::Header> ElfImage::read_header() {
  if (!recognises(bytes_))
    return error(0, "ELF header", Error::Cause::bad_magic, "not an ELF file");
  if (bytes_.size() < kIdentSize) {
    return error(bytes_.size(), "ELF header", Error::Cause::truncated,
                 "the identification needs 16 bytes");
  }
  const auto elf_class = std::to_integer<unsigned>(bytes_[EI_CLASS]);
  const auto encoding = std::to_integer<unsigned>(bytes_[EI_DATA]);
  if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64) {
    return error(EI_CLASS, "ELF header", Error::Cause::bad_field,
                 fmt::format("class {} is neither 1 nor 2", elf_class));
  }
  if (encoding != ELFDATA2LSB && encoding != ELFDATA2MSB) {
    return error(EI_DATA, "ELF header", Error::Cause::bad_field,
                 fmt::format("data encoding {} is neither 1 nor 2", encoding));
  }
  is_64_bit_ = elf_class == ELFCLASS64;
  order_ = encoding == ELFDATA2LSB ? std::endian::little : std::endian::big;
  Cursor in(bytes_, order_);
  in.begin_record("ELF header");
  in.take(kIdentSize, "e_ident");
  type_ = in.read<uint16_t>("e_type");
  machine_ = in.read<uint16_t>("e_machine");
  in.read<uint32_t>("e_version");
  read_word(in, "e_entry");
  read_word(in, "e_phoff");
  Header header;
  header.sections_offset = read_word(in, "e_shoff");
  in.take(10, "e_flags to e_phnum");
  header.section_entry_size = in.read<uint16_t>("e_shentsize");
  header.section_count = in.read<uint16_t>("e_shnum");
  header.names_index = in.read<uint16_t>("e_shstrndx");
  if (in.error()) {
    Error placed = *in.error();
    placed.file = file_;
    return std::unexpected(std::move(placed));
  }
  return header;
}

ElfSection ElfImage::read_section(Cursor& in, uint32_t index) const {
  ElfSection section;
  section.index = index;
  section.name_offset = in.read<uint32_t>("sh_name");
  section.type = in.read<uint32_t>("sh_type");
  section.flags = read_word(in, "sh_flags");
  section.address = read_word(in, "sh_addr");
  section.offset = read_word(in, "sh_offset");
  section.size = read_word(in, "sh_size");
  section.link = in.read<uint32_t>("sh_link");
  section.info = in.read<uint32_t>("sh_info");
  read_word(in, "sh_addralign");
  section.entry_size = read_word(in, "sh_entsize");
  return section;
}

Result<uint32_t> ElfImage::count_sections(const Header& header, const ElfSection& first) const {
  // A count that does not fit its 16 bits is in the size of section 0.
  const uint64_t count = header.section_count != 0 ? header.section_count : first.size;
  const uint64_t room = (bytes_.size() - header.sections_offset) / section_header_size(is_64_bit_);
  if (count > room || count > UINT32_MAX) {
    return error(
        header.sections_offset, "section table", Error::Cause::truncated,
        fmt::format("{} section headers are declared, but the file has room for {}", count, room));
  }
  return static_cast<uint32_t>(count);
}

Result<void> ElfImage::read_sections(Header& header) {
  if (header.sections_offset == 0) return {};  // stripped of its section table
  const uint64_t entry_size = section_header_size(is_64_bit_);
  if (header.section_entry_size != entry_size) {
    return error(is_64_bit_ ? 58 : 46, "ELF header", Error::Cause::bad_field,
                 fmt::format("e_shentsize is {}, section headers have {} bytes",
                             header.section_entry_size, entry_size));
  }
  if (header.sections_offset > bytes_.size() ||
      bytes_.size() - header.sections_offset < entry_size) {
    return error(header.sections_offset, "section table", Error::Cause::truncated,
                 fmt::format("begins past the end of the file, which has {} bytes", bytes_.size()));
  }
  Cursor in(bytes_.subspan(static_cast<size_t>(header.sections_offset)), order_,
            header.sections_offset);
  ElfSection first = read_section(in, 0);
  const Result<uint32_t> count = count_sections(header, first);
  if (!count) return std::unexpected(count.error());
  if (header.names_index == SHN_XINDEX) header.names_index = first.link;
  sections_.reserve(*count);
  // Section 0 is a placeholder: its fields hold the counts above.
  sections_.emplace_back();
  for (uint32_t i = 1; i < *count; ++i) sections_.push_back(read_section(in, i));
  return {};
}

Result<void> ElfImage::check_extents() const {
  for (const ElfSection& section : sections_) {
    if (section.type == SHT_NULL || section.type == SHT_NOBITS) continue;
    if (section.offset > bytes_.size() || section.size > bytes_.size() - section.offset) {
      return error(section.offset, fmt::format("section {}", section.index),
                   Error::Cause::truncated,
                   fmt::format("its {} bytes reach past the end of the file, which has {}",
                               section.size, bytes_.size()));
    }
  }
  return {};
}

Result<void> ElfImage::name_sections(uint32_t names_index) {
  if (sections_.empty() || names_index == SHN_UNDEF) return {};
  if (names_index >= sections_.size()) {
    return error(
        is_64_bit_ ? 62 : 50, "ELF header", Error::Cause::bad_field,
        fmt::format("e_shstrndx is {}, there are {} sections", names_index, sections_.size()));
  }
  const Bytes names = bytes(sections_[names_index]);
  for (ElfSection& section : sections_) section.name = text_at(names, section.name_offset);
  return {};
}

Bytes ElfImage::bytes(const ElfSection& section) const {
  if (section.type == SHT_NULL || section.type == SHT_NOBITS) return {};
  return bytes_.subspan(static_cast<size_t>(section.offset), static_cast<size_t>(section.size));
}

Cursor ElfImage::cursor(const ElfSection& section) const {
  return Cursor(bytes(section), order_, section.offset);
}

bool ElfImage::is_object_file() const { return type_ == ET_REL; }

uint64_t ElfImage::relocation_size(const ElfSection& section) const {
  const bool addends = section.type == SHT_RELA;
  if (is_64_bit_) return addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  return addends ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
}

ElfRelocation ElfImage::relocation(const ElfSection& section, uint64_t index) const {
  const uint64_t size = relocation_size(section);
  Cursor in(bytes(section).subspan(static_cast<size_t>(index * size), static_cast<size_t>(size)),
            order_);
  ElfRelocation relocation;
  relocation.place = read_word(in, "r_offset");
  if (is_64_bit_ && machine_ == EM_MIPS) {
    // mips64 splits r_info: symbol, special symbol, and up to three types that are applied in
    // sequence.
    relocation.symbol = in.read<uint32_t>("r_sym");
    in.take(3, "r_ssym, r_type3, r_type2");
    relocation.type = in.read<uint8_t>("r_type");
  } else if (is_64_bit_) {
    const uint64_t info = in.read<uint64_t>("r_info");
    relocation.symbol = static_cast<uint32_t>(info >> 32);
    relocation.type = static_cast<uint32_t>(info & 0xffffffffU);
  } else {
    const uint32_t info = in.read<uint32_t>("r_info");
    relocation.symbol = info >> 8;
    relocation.type = info & 0xffU;
  }
  if (section.type == SHT_RELA) {
    relocation.addend = is_64_bit_ ? in.read<int64_t>("r_addend") : in.read<int32_t>("r_addend");
  }
  return relocation;
}

Result<ElfSymbol> ElfImage::symbol(const ElfSection& table, uint32_t index) const {
  const uint64_t size = is_64_bit_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  const Bytes all = bytes(table);
  if (index >= all.size() / size) {
    return error(table.offset, fmt::format("symbol table {}", table.index), Error::Cause::bad_field,
                 fmt::format("symbol {} does not exist; there are {}", index, all.size() / size));
  }
  Cursor in(all.subspan(static_cast<size_t>(index * size), static_cast<size_t>(size)), order_);
  ElfSymbol symbol;
  const auto name = in.read<uint32_t>("st_name");
  if (is_64_bit_) {
    symbol.info = in.read<uint8_t>("st_info");
    in.read<uint8_t>("st_other");
    symbol.section = in.read<uint16_t>("st_shndx");
  }
  symbol.value = read_word(in, "st_value");
  symbol.size = read_word(in, "st_size");
  if (!is_64_bit_) {
    symbol.info = in.read<uint8_t>("st_info");
    in.read<uint8_t>("st_other");
    symbol.section = in.read<uint16_t>("st_shndx");
  }
  if (table.link < sections_.size()) symbol.name = text_at(bytes(sections_[table.link]), name);
  return symbol;
}

std::string ElfImage::machine_name() const {
  switch (machine_) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return order_ == std::endian::little ? "ppc64le" : "ppc64";
    case EM_MIPS:
      return fmt::format("mips{}{}", is_64_bit_ ? "64" : "",
                         order_ == std::endian::little ? "el" : "");
    case kMachineLoongArch:
      return is_64_bit_ ? "loongarch64" : "loongarch32";
    case EM_RISCV:
      return is_64_bit_ ? "riscv64" : "riscv32";
    case EM_S390:
      return is_64_bit_ ? "s390x" : "s390";
    case kMachineHexagon:
      return "hexagon";
    default:
      return fmt::format("machine {}", machine_);
  }
}

std::string ElfImage::build_id() const {
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    Cursor in = cursor(section);
    while (!in.error() && in.left() >= sizeof(Elf64_Nhdr)) {
      const auto name_size = in.read<uint32_t>("n_namesz");
      const auto description_size = in.read<uint32_t>("n_descsz");
      const auto note_type = in.read<uint32_t>("n_type");
      // Both parts are padded to 4 bytes; in 64 bits the sum cannot wrap.
      const std::string_view name =
          text_of(in.take((uint64_t{name_size} + 3) & ~uint64_t{3}, "note name"));
      const Bytes description =
          in.take((uint64_t{description_size} + 3) & ~uint64_t{3}, "note description");
      if (in.error() || note_type != NT_GNU_BUILD_ID || description_size > kMaxBuildId ||
          name_size != 4 || name != std::string_view("GNU\0", 4)) {
        continue;
      }
      std::string digits;
      for (const std::byte b : description.first(description_size)) {
        digits += fmt::format("{:02x}", std::to_integer<unsigned>(b));
      }
      return digits;
    }
  }
  return {};
}

}  // namespace telltale
