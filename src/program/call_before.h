#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "program/elf_image.h"

namespace telltale {

inline constexpr size_t kLongestCall = 7;  // bytes of the longest call instruction

// Whether the last bytes of `code` are a call instruction of x86-64 or AArch64; empty for other
// machines (EM_*). For x86-64 there are false positives at about one of some hundred addresses.
std::optional<bool> ends_with_call(uint16_t machine, std::span<const uint8_t> code);

// The same for the code before a link-time address: after a call, the address is a return address;
// otherwise execution was interrupted there. Empty if the file does not contain that code, for
// example a separate debug file.
std::optional<bool> call_before(const ElfImage& image, uint64_t address);

}  // namespace telltale
