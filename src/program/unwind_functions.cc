#include "program/unwind_functions.h"

#include <dwarf.h>
#include <gelf.h>

#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace telltale {
namespace {

struct Contents {
  uint64_t address = 0;
  std::span<const unsigned char> bytes;

  // A number of four bytes with its sign, in the order of the machine that reads: programs of
  // another order are not looked up here.
  [[nodiscard]] std::optional<int64_t> number(uint64_t at) const {
    int32_t value = 0;
    if (at > bytes.size() || bytes.size() - at < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }
};

std::optional<Contents> find_section(Elf* elf, std::string_view wanted) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return std::nullopt;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* const name = elf_strptr(elf, names, header.sh_name);
    const Elf_Data* const data =
        name != nullptr && wanted == name ? elf_rawdata(section, nullptr) : nullptr;
    if (data == nullptr || data->d_buf == nullptr) continue;
    return Contents{.address = header.sh_addr,
                    .bytes = {static_cast<const unsigned char*>(data->d_buf), data->d_size}};
  }
  return std::nullopt;
}

// An entry of the table: begin of a function, and of its description.
struct Entry {
  uint64_t function = 0;
  uint64_t description = 0;
};

constexpr uint64_t kTableBegin = 12;
constexpr uint64_t kEntryBytes = 8;

std::optional<Entry> entry_at(const Contents& table, uint64_t index) {
  const auto function = table.number(kTableBegin + index * kEntryBytes);
  const auto description = table.number(kTableBegin + index * kEntryBytes + kEntryBytes / 2);
  if (!function || !description) return std::nullopt;
  return Entry{.function = table.address + static_cast<uint64_t>(*function),
               .description = table.address + static_cast<uint64_t>(*description)};
}

// Version 1, relative addresses of four bytes: what the linkers write.
bool has_known_form(const Contents& table) {
  constexpr std::array<unsigned char, 4> kForm = {
      1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4, DW_EH_PE_datarel | DW_EH_PE_sdata4};
  return table.bytes.size() >= kTableBegin &&
         std::memcmp(table.bytes.data(), kForm.data(), kForm.size()) == 0;
}

}  // namespace

std::optional<FunctionBounds> find_unwind_function(Dwfl_Module* module, uint64_t address) {
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(module, &bias);
  const auto table = elf == nullptr ? std::nullopt : find_section(elf, ".eh_frame_hdr");
  const auto frames = elf == nullptr ? std::nullopt : find_section(elf, ".eh_frame");
  if (!table || !frames || !has_known_form(*table)) return std::nullopt;
  const auto count = table->number(kTableBegin - sizeof(uint32_t));
  uint64_t first = 0;
  uint64_t end = count && *count > 0 ? static_cast<uint64_t>(*count) : 0;
  // The last entry that begins at or below the address.
  while (end - first > 1) {
    const uint64_t middle = first + (end - first) / 2;
    const auto entry = entry_at(*table, middle);
    if (!entry) return std::nullopt;
    (entry->function <= address ? first : end) = middle;
  }
  const auto entry = first < end ? entry_at(*table, first) : std::nullopt;
  if (!entry || entry->function > address || entry->description < frames->address)
    return std::nullopt;
  // Its description: size, distance to the common part, begin of the function, bytes of it.
  constexpr uint64_t kBegin = 8;
  const uint64_t at = entry->description - frames->address;
  const auto begin = frames->number(at + kBegin);
  const auto bytes = frames->number(at + kBegin + sizeof(uint32_t));
  // Another form of addresses would give another begin.
  if (!begin || !bytes ||
      entry->description + kBegin + static_cast<uint64_t>(*begin) != entry->function)
    return std::nullopt;
  const uint64_t function_end = entry->function + static_cast<uint32_t>(*bytes);
  if (address >= function_end) return std::nullopt;
  return FunctionBounds{.begin = entry->function, .end = function_end};
}

}  // namespace telltale
