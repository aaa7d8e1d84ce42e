#include "elf_file.h"

#include "plain.h"
#include "syscalls.h"

namespace telltale::recorder {

ElfFile::ElfFile(const char* path) {
  const long file = sys::open(path, O_RDONLY);
  if (sys::failed(file)) return;
  struct stat status{};
  sys::call(SYS_fstat, file, &status);
  bytes_ = static_cast<uint64_t>(status.st_size);
  modified_ns_ = static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                 static_cast<uint64_t>(status.st_mtim.tv_nsec);
  if (S_ISREG(status.st_mode) && bytes_ >= sizeof(Elf64_Ehdr)) {
    data_ = static_cast<const std::byte*>(
        sys::map(nullptr, bytes_, PROT_READ, MAP_PRIVATE, static_cast<int>(file), 0));
  }
  sys::call(SYS_close, file);
  if (data_ == nullptr) return;
  Elf64_Ehdr header;
  __builtin_memcpy(&header, data_, sizeof(header));
  const bool is_elf = header.e_ident[EI_MAG0] == ELFMAG0 && header.e_ident[EI_MAG1] == ELFMAG1 &&
                      header.e_ident[EI_MAG2] == ELFMAG2 && header.e_ident[EI_MAG3] == ELFMAG3 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_elf || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % 8 != 0 ||
      header.e_shoff > bytes_ ||
      uint64_t{header.e_shnum} * sizeof(Elf64_Shdr) > bytes_ - header.e_shoff ||
      header.e_shstrndx >= header.e_shnum) {
    return;
  }
  const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(data_ + header.e_shoff);
  section_count_ = header.e_shnum;
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  names_ = reinterpret_cast<const char*>(contents(names));
  names_bytes_ = names.sh_size;
  if (names_ == nullptr || names_bytes_ == 0 || names_[names_bytes_ - 1] != '\0') return;
  sections_ = sections;
}

ElfFile::~ElfFile() {
  if (data_ != nullptr) sys::call(SYS_munmap, const_cast<std::byte*>(data_), bytes_);
}

const std::byte* ElfFile::contents(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_ ||
      section.sh_size > bytes_ - section.sh_offset) {
    return nullptr;
  }
  return data_ + section.sh_offset;
}

const Elf64_Shdr* ElfFile::section(const char* name) const {
  for (uint64_t i = 0; sections_ != nullptr && i < section_count_; ++i) {
    if (sections_[i].sh_name < names_bytes_ && same_text(names_ + sections_[i].sh_name, name))
      return &sections_[i];
  }
  return nullptr;
}

}  // namespace telltale::recorder
