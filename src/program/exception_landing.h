#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "program/core_file.h"
#include "program/dwarf_registers.h"

namespace telltale {

// Where a thread goes on, with its registers as DWARF numbers them; empty: unknown, or the machine
// has fewer.
struct LandingRegisters {
  uint64_t pc = 0;
  std::array<std::optional<uint64_t>, kArmRegisters> registers;
};

// Whether a function of this name is one of libgcc's that do not return, but go on in a landing pad
// of one of their callers.
bool is_exception_unwinder(std::string_view symbol);

// A frame of such a function.
struct UnwinderFrame {
  uint64_t stack_pointer = 0;
  uint64_t frame_address = 0;  // the canonical frame address
  // The registers of the frame, by DWARF number; empty: unknown.
  std::function<std::optional<uint64_t>(unsigned number)> read_register;
  bool innermost = false;
  uint64_t code_offset = 0;  // of its instruction, in the function
};

// The landing pad that an unwinder is about to go on in. It overwrites the registers that it has
// saved, and its return address, by those of the landing pad's frame before it leaves its own
// frame. Meanwhile the unwind tables describe neither frame. Empty as long as they are right: while
// the unwinder looks for a handler. Source: struct _Unwind_Context and uw_install_context of
// libgcc (unwind-dw2.c, GCC 4.4 to 14), of which the frame has a copy.
std::optional<LandingRegisters> find_landing(const CoreFile& core, const UnwinderFrame& frame);

}  // namespace telltale
