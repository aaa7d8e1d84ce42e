#include "program/call_before.h"

#include <elf.h>

#include <algorithm>
#include <vector>

namespace telltale {
namespace {

// The last bytes, counted from the end: last(code, 1) is the last one.
uint8_t last(std::span<const uint8_t> code, size_t back) { return code[code.size() - back]; }

// FF /2: a call through a register or memory. `length` bytes including FF.
bool is_indirect_call(std::span<const uint8_t> code, size_t length) {
  if (code.size() < length || last(code, length) != 0xFF) return false;
  const uint8_t modrm = last(code, length - 1);
  if ((modrm >> 3 & 7) != 2) return false;
  const unsigned mode = modrm >> 6;
  const unsigned base = modrm & 7;
  if (mode == 3) return length == 2;
  size_t expected = 2;
  bool wide = mode == 2 || (mode == 0 && base == 5);  // a displacement of 32 bits
  if (base == 4) {                                    // a SIB byte follows
    ++expected;
    if (length < expected) return false;
    wide = wide || (mode == 0 && (last(code, length - 2) & 7) == 5);
  }
  expected += wide ? 4 : mode == 1 ? 1 : 0;
  return length == expected;
}

bool ends_with_x86_call(std::span<const uint8_t> code) {
  constexpr size_t kDirect = 5;
  if (code.size() >= kDirect && last(code, kDirect) == 0xE8) return true;
  for (size_t length = 2; length <= kLongestCall; ++length) {
    if (is_indirect_call(code, length)) return true;
  }
  return false;
}

// BL, BLR and the forms of BLR that authenticate pointers.
bool ends_with_arm_call(std::span<const uint8_t> code) {
  if (code.size() < 4) return false;
  uint32_t word = 0;
  for (size_t back = 1; back <= 4; ++back) word = word << 8 | last(code, back);
  return (word & 0xFC000000) == 0x94000000 || (word & 0xFEFFF000) == 0xD63F0000;
}

}  // namespace

std::optional<bool> ends_with_call(uint16_t machine, std::span<const uint8_t> code) {
  if (machine == EM_X86_64) return ends_with_x86_call(code);
  if (machine == EM_AARCH64) return ends_with_arm_call(code);
  return std::nullopt;
}

std::optional<bool> call_before(const ElfImage& image, uint64_t address) {
  std::optional<bool> found;
  for (const ElfSection& section : image.sections()) {
    const bool is_code = (section.flags & SHF_EXECINSTR) != 0 && section.type == SHT_PROGBITS;
    if (!is_code || address < section.address || address - section.address > section.size) continue;
    const uint64_t inside = address - section.address;
    const uint64_t size = std::min<uint64_t>(inside, kLongestCall);
    Cursor in = image.cursor(section);
    in.take(inside - size, "code");
    std::vector<uint8_t> code;
    while (code.size() < size) code.push_back(in.read<uint8_t>("code"));
    const std::optional<bool> here =
        in.error() ? std::nullopt : ends_with_call(image.machine(), code);
    // Another section may begin where one ends.
    if (inside < section.size || here == true) return here;
    found = here;
  }
  return found;
}

}  // namespace telltale
