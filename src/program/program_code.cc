#include "program/program_code.h"

#include <elf.h>

#include <algorithm>

#include "bytes/input_file.h"
#include "program/elf_image.h"

namespace telltale {

std::vector<uint8_t> read_program_code(const std::string& path, uint16_t machine, uint64_t begin,
                                       uint64_t end) {
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return {};
  const Result<ElfImage> image = ElfImage::read(input->bytes(), path);
  if (!image || image->machine() != machine) return {};
  for (const ElfSection& section : image->sections()) {
    if ((section.flags & SHF_EXECINSTR) == 0 || section.type != SHT_PROGBITS ||
        begin < section.address || begin > end || end - section.address > section.size)
      continue;
    const Bytes bytes = image->bytes(section).subspan(begin - section.address, end - begin);
    std::vector<uint8_t> code;
    code.reserve(bytes.size());
    for (const std::byte byte : bytes) code.push_back(static_cast<uint8_t>(byte));
    return code;
  }
  return {};
}

bool is_in_linkage_table(const std::string& path, uint64_t address) {
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return false;
  const Result<ElfImage> image = ElfImage::read(input->bytes(), path);
  return image && std::ranges::any_of(image->sections(), [&](const ElfSection& section) {
           return (section.flags & SHF_EXECINSTR) != 0 &&
                  address - section.address < section.size &&
                  (section.name.starts_with(".plt") || section.name.starts_with(".iplt"));
         });
}

}  // namespace telltale
