#include "program/code_addresses.h"

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "program/call_before.h"
#include "program/program_code.h"

namespace telltale {

std::string CodeAddresses::mapped_file(uint64_t address) const {
  for (const CoreMapping& mapping : mappings_)
    if (address >= mapping.begin && address < mapping.end) return mapping.path;
  return {};
}

bool CodeAddresses::is_code_of_module(uint64_t address) const {
  Dwfl_Module* const module = dwfl_addrmodule(dwfl_, address);
  GElf_Addr bias = 0;
  Elf* const elf = module == nullptr ? nullptr : dwfl_module_getelf(module, &bias);
  size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return false;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_LOAD &&
        (segment.p_flags & PF_X) != 0 && address - bias - segment.p_vaddr < segment.p_memsz)
      return true;
  }
  return false;
}

bool CodeAddresses::is_no_code(uint64_t address) const {
  if (dwfl_addrmodule(dwfl_, address) != nullptr) return !is_code_of_module(address);
  return std::ranges::none_of(core_.segments(),
                              [&](const ElfSegment& segment) {
                                return (segment.flags & PF_X) != 0 &&
                                       address - segment.address < segment.memory_size;
                              }) &&
         mapped_file(address).empty();
}

bool CodeAddresses::may_be_made_code(uint64_t address) const {
  constexpr uint64_t kFirst = 0x1'0000;  // the kernel maps nothing below, unless root asks for it
  constexpr uint64_t kEnd = uint64_t{1} << 47;  // of processes that do not ask for more
  return address >= kFirst && address < kEnd && dwfl_addrmodule(dwfl_, address) == nullptr &&
         mapped_file(address).empty() &&
         std::ranges::none_of(
             core_.segments(),
             [](const ElfSegment& segment) {
               return segment.type == PT_LOAD && (segment.flags & PF_X) != 0;
             });
}

CodeAddresses::Module CodeAddresses::module_at(uint64_t address) const {
  Dwfl_Module* const module = dwfl_addrmodule(dwfl_, address);
  GElf_Addr bias = 0;
  if (module == nullptr || dwfl_module_getelf(module, &bias) == nullptr) return {};
  const char* file = nullptr;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &file, nullptr);
  return {.path = file == nullptr ? "" : file, .bias = bias};
}

bool CodeAddresses::is_linkage_table(uint64_t address) const {
  const Module module = module_at(address);
  return !module.path.empty() && is_in_linkage_table(module.path, address - module.bias);
}

bool CodeAddresses::follows_call(uint64_t address) const {
  if (!is_code_of_module(address - 1)) return false;
  const Module module = module_at(address - 1);
  if (module.path.empty()) return true;
  const uint64_t end = address - module.bias;
  const std::vector<uint8_t> code =
      read_program_code(module.path, core_.machine(), end - kLongestCall, end);
  return code.empty() || ends_with_call(core_.machine(), code).value_or(true);
}

bool CodeAddresses::is_frame_pointer(std::optional<uint64_t> pointer,
                                     std::optional<uint64_t> stack_pointer) const {
  constexpr uint64_t kSavedPointerBytes = 8;
  if (!pointer || !stack_pointer || *pointer < *stack_pointer) return false;
  const auto address = core_.read_number(*pointer + kSavedPointerBytes, 8);
  return address && follows_call(*address);
}

}  // namespace telltale
