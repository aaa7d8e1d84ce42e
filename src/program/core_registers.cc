#include "program/core_registers.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "program/dwarf_registers.h"

namespace telltale {
namespace {

// The place in NT_PRSTATUS of each register that DWARF numbers (asm/ptrace.h of the machine; System
// V ABI, AMD64 supplement, figure 3.36; DWARF for the Arm 64-bit Architecture, table 1).
constexpr auto kX86 =
    std::to_array<uint8_t>({10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16});
constexpr size_t kX86Pc = 16;
constexpr size_t kArmPc = 32;

}  // namespace

bool set_core_registers(uint16_t machine, std::span<const uint64_t> stored, CoreThread& thread) {
  if (machine == EM_X86_64 && stored.size() > *std::ranges::max_element(kX86)) {
    for (const uint8_t place : kX86) thread.registers.push_back(stored[place]);
    thread.pc = stored[kX86Pc];
    return true;
  }
  if (machine == EM_AARCH64 && stored.size() > kArmPc) {
    thread.registers.assign(stored.begin(), stored.begin() + kArmRegisters);
    thread.pc = stored[kArmPc];
    return true;
  }
  return false;
}

uint64_t core_stack_pointer(uint16_t machine, const CoreThread& thread) {
  const size_t place = machine == EM_X86_64 ? kRsp : kArmStackPointer;
  return place < thread.registers.size() ? thread.registers[place] : 0;
}

}  // namespace telltale
