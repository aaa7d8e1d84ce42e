#pragma once

#include <cstddef>

namespace telltale {

// DWARF's numbers of registers of x86-64 (System V ABI, AMD64 supplement, figure 3.36).
inline constexpr unsigned kRdx = 1;
inline constexpr unsigned kRcx = 2;
inline constexpr unsigned kRbx = 3;
inline constexpr unsigned kRbp = 6;
inline constexpr unsigned kRsp = 7;
inline constexpr unsigned kR12 = 12;
inline constexpr unsigned kReturnAddress = 16;
// DWARF numbers x0 to x30 and sp of AArch64 from 0 (DWARF for the Arm 64-bit Architecture, table
// 1). Functions keep x19 to x29 for their callers (Procedure Call Standard for the Arm 64-bit
// Architecture, 6.1.1).
inline constexpr unsigned kArmX19 = 19;
inline constexpr unsigned kArmFramePointer = 29;
inline constexpr unsigned kArmLink = 30;
inline constexpr unsigned kArmStackPointer = 31;
inline constexpr size_t kArmRegisters = 32;

}  // namespace telltale
