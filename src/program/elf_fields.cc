#include "program/elf_fields.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/sort_rows.h"

namespace telltale {

namespace {

// How a relocation type computes an address: the types of each machine's ELF supplement that
// compilers use for 64-bit address fields.
enum class Rule : uint8_t { unknown, symbol, load_base, add, subtract };

// glibc 2.36's elf.h does not define these.
constexpr uint32_t kMipsPc32 = 248;
constexpr uint16_t kLoongArch = 258;
constexpr uint32_t kLoongArch64 = 2;
constexpr uint32_t kLoongArchRelative = 3;
constexpr uint32_t kLoongArchAdd64 = 51;
constexpr uint32_t kLoongArchSub64 = 56;
constexpr uint32_t kLoongArch64PcRel = 109;

Rule rule_of(uint16_t machine, uint32_t type) {
  struct Row {
    uint16_t machine;
    uint32_t type;
    Rule rule;
  };
  // RISC-V (and formerly LoongArch) encodes a distance as a pair: add the target, subtract a place
  // near the field.
  static constexpr Row kRows[] = {
      {EM_X86_64, R_X86_64_64, Rule::symbol},
      {EM_X86_64, R_X86_64_PC64, Rule::symbol},
      {EM_X86_64, R_X86_64_RELATIVE, Rule::load_base},
      {EM_AARCH64, R_AARCH64_ABS64, Rule::symbol},
      {EM_AARCH64, R_AARCH64_PREL64, Rule::symbol},
      {EM_AARCH64, R_AARCH64_RELATIVE, Rule::load_base},
      {EM_PPC64, R_PPC64_ADDR64, Rule::symbol},
      {EM_PPC64, R_PPC64_REL64, Rule::symbol},
      {EM_PPC64, R_PPC64_RELATIVE, Rule::load_base},
      {EM_S390, R_390_64, Rule::symbol},
      {EM_S390, R_390_PC64, Rule::symbol},
      {EM_S390, R_390_RELATIVE, Rule::load_base},
      {EM_RISCV, R_RISCV_64, Rule::symbol},
      {EM_RISCV, R_RISCV_ADD64, Rule::add},
      {EM_RISCV, R_RISCV_SUB64, Rule::subtract},
      {EM_RISCV, R_RISCV_RELATIVE, Rule::load_base},
      {kLoongArch, kLoongArch64, Rule::symbol},
      {kLoongArch, kLoongArch64PcRel, Rule::symbol},
      {kLoongArch, kLoongArchAdd64, Rule::add},
      {kLoongArch, kLoongArchSub64, Rule::subtract},
      {kLoongArch, kLoongArchRelative, Rule::load_base},
      {EM_MIPS, R_MIPS_64, Rule::symbol},
      {EM_MIPS, kMipsPc32, Rule::symbol},
      {EM_MIPS, R_MIPS_REL32, Rule::load_base},
  };
  for (const Row& row : kRows) {
    if (row.machine == machine && row.type == type) return row.rule;
  }
  return Rule::unknown;
}

}  // namespace

Result<ElfFields> ElfFields::collect(const ElfImage& image, const std::vector<uint32_t>& sections) {
  ElfFields fields(image);
  uint64_t budget = image.size();
  for (const ElfSection& table : image.sections()) {
    if (table.type != SHT_RELA && table.type != SHT_REL) continue;
    const bool concerned = image.is_object_file() ? std::ranges::binary_search(sections, table.info)
                                                  : (table.flags & SHF_ALLOC) != 0;
    if (!concerned) continue;
    if (table.size > budget) {
      return std::unexpected(Error{
          Error::Cause::limit, image.file(), "relocations",
          "relocation sections overlap: together they are larger than the file", table.offset});
    }
    budget -= table.size;
    fields.add(table, sections);
  }
  sort_rows(fields.relocations_, [](const Relocation& a, const Relocation& b) {
    return std::tie(a.section, a.offset) < std::tie(b.section, b.offset);
  });
  return fields;
}

void ElfFields::add(const ElfSection& table, const std::vector<uint32_t>& sections) {
  const uint64_t count = table.size / image_->relocation_size(table);
  for (uint64_t i = 0; i < count; ++i) {
    const ElfRelocation read = image_->relocation(table, i);
    Relocation kept{
        0,           table.link, read.place,           static_cast<uint64_t>(read.addend),
        read.symbol, read.type,  table.type == SHT_REL};
    if (image_->is_object_file()) {
      kept.section = table.info;
      relocations_.push_back(kept);
      continue;
    }
    for (const uint32_t index : sections) {
      const ElfSection& section = image_->sections()[index];
      if (read.place < section.address || read.place - section.address >= section.size) continue;
      kept.section = index;
      kept.offset = read.place - section.address;
      relocations_.push_back(kept);
      break;
    }
  }
}

std::span<const ElfFields::Relocation> ElfFields::find(uint32_t section, uint64_t offset) const {
  const auto found = std::ranges::equal_range(
      relocations_, std::tuple(section, offset), {}, [](const Relocation& relocation) {
        return std::tuple(relocation.section, relocation.offset);
      });
  return {found.begin(), found.end()};
}

std::optional<ElfPlace> ElfFields::target(const Relocation& relocation, uint64_t stored) const {
  if (relocation.symbol_table >= image_->sections().size()) return std::nullopt;
  const Result<ElfSymbol> symbol =
      image_->symbol(image_->sections()[relocation.symbol_table], relocation.symbol);
  if (!symbol || symbol->section == SHN_UNDEF) return std::nullopt;
  const bool in_section = image_->is_object_file() && symbol->section < SHN_LORESERVE;
  const uint64_t addend = relocation.stored_addend ? stored : relocation.addend;
  return ElfPlace{symbol->value + addend, in_section ? symbol->section : 0};
}

std::optional<ElfPlace> ElfFields::apply(std::span<const Relocation> relocations,
                                         uint64_t stored) const {
  const Relocation& first = relocations.front();
  switch (rule_of(image_->machine(), first.type)) {
    case Rule::load_base:
      return ElfPlace{first.stored_addend ? stored : first.addend, 0};
    case Rule::symbol:
      return target(first, stored);
    case Rule::add:
      break;
    default:
      return std::nullopt;
  }
  if (relocations.size() < 2 || rule_of(image_->machine(), relocations[1].type) != Rule::subtract) {
    return std::nullopt;
  }
  // The value is "target - near", relative to the field: only their distance is known.
  const std::optional<ElfPlace> added = target(first, stored);
  const std::optional<ElfPlace> near = target(relocations[1], stored);
  if (!added || !near || near->section != first.section) return std::nullopt;
  return ElfPlace{first.offset + added->address - near->address, added->section};
}

std::optional<ElfPlace> ElfFields::resolve(const ElfSection& section, uint64_t offset,
                                           uint64_t stored, bool relative) const {
  if (!image_->is_object_file()) {
    if (relative) return ElfPlace{section.address + offset + stored, 0};
    if (stored != 0) return ElfPlace{stored, 0};
  }
  const std::span<const Relocation> relocations = find(section.index, offset);
  return relocations.empty() ? std::nullopt : apply(relocations, stored);
}

}  // namespace telltale
