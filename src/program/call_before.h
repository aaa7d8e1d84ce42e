#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "program/elf_image.h"

namespace telltale {

inline constexpr size_t kLongestCall = 7;  // bytes of an instruction that calls

// Whether the last bytes of `code` are an instruction that calls: of x86-64 and AArch64; none for
// other machines (EM_*). Code of x86-64 may look like a call and be none, in one of some hundred
// places.
std::optional<bool> ends_with_call(uint16_t machine, std::span<const uint8_t> code);

// The same of the code in front of a link-time address: behind a call, the address is one that a
// call returns to; otherwise it is where something was interrupted. None where the file does not
// have that code, as a separate debug file.
std::optional<bool> call_before(const ElfImage& image, uint64_t address);

}  // namespace telltale
