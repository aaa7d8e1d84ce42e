#pragma once

#include <elf.h>

#include <cstdint>
#include <span>

#include "program/core_file.h"

namespace telltale {

// The machine that telltale itself runs on, EM_*; EM_NONE if its stacks cannot be read.
#if defined(__x86_64__)
inline constexpr uint16_t kCoreMachine = EM_X86_64;
#elif defined(__aarch64__)
inline constexpr uint16_t kCoreMachine = EM_AARCH64;
#else
inline constexpr uint16_t kCoreMachine = EM_NONE;
#endif

// Sets registers and pc from `stored`, the general registers in the order of NT_PRSTATUS. False,
// and no change, for machines whose order is unknown and if there are too few.
bool set_core_registers(uint16_t machine, std::span<const uint64_t> stored, CoreThread& thread);

// 0: unknown.
uint64_t core_stack_pointer(uint16_t machine, const CoreThread& thread);

}  // namespace telltale
