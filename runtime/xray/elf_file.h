#pragma once

// The parts of an ELF file that the recorder needs: a section by name, and functions' names. All
// offsets are checked against the file's size. No allocation.

#include <elf.h>
#include <stdint.h>

#include <cstddef>

namespace telltale::recorder {

class ElfFile {
 public:
  explicit ElfFile(const char* path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  [[nodiscard]] bool valid() const { return sections_ != nullptr; }
  [[nodiscard]] uint64_t file_bytes() const { return bytes_; }
  [[nodiscard]] uint64_t modified_ns() const { return modified_ns_; }

  // Null: no such section.
  [[nodiscard]] const Elf64_Shdr* section(const char* name) const;
  // Its bytes in the file; null if they are not all present.
  [[nodiscard]] const std::byte* contents(const Elf64_Shdr& section) const;

  // Calls use(name, link-time address) for each function symbol, from .symtab, otherwise .dynsym.
  template <typename Use>
  void for_each_function(Use use) const {
    const Elf64_Shdr* table = section(".symtab");
    if (table == nullptr) table = section(".dynsym");
    if (table == nullptr || table->sh_link >= section_count_) return;
    const Elf64_Shdr& names = sections_[table->sh_link];
    const std::byte* const symbols = contents(*table);
    const auto* const texts = reinterpret_cast<const char*>(contents(names));
    if (symbols == nullptr || texts == nullptr || names.sh_size == 0 ||
        texts[names.sh_size - 1] != '\0') {
      return;
    }
    for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym symbol;
      __builtin_memcpy(&symbol, symbols + i * sizeof(symbol), sizeof(symbol));
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_name >= names.sh_size) continue;
      use(texts + symbol.st_name, symbol.st_value);
    }
  }

 private:
  const std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t modified_ns_ = 0;
  const Elf64_Shdr* sections_ = nullptr;
  uint64_t section_count_ = 0;
  const char* names_ = nullptr;
  uint64_t names_bytes_ = 0;
};

}  // namespace telltale::recorder
