// Layout of `.debug_telltale_paths`, the section that `telltale-cc --trace` adds to `.debug_PT`
// (docs/formats/csi.md). A record is a 32-bit size of what follows, a byte that is the kind, and
// the fields of the kind, all unaligned and in the byte order of the ELF file. Readers skip kinds
// that they do not know.
#pragma once

#include <cstdint>

namespace telltale::csi {

inline constexpr const char* kPathSection = ".debug_PT";
inline constexpr const char* kRecordSection = ".debug_telltale_paths";

enum class RecordKind : std::uint8_t {
  // u64 key; u64 offset of the function's entry in .debug_PT; text lines up to the end.
  kFunction = 1,
  // u8 phase (and kAfterInstruction); u32 id of a block in .debug_PT; u64 key; u64 address. From
  // the address on, the program is in this block, up to the next position.
  kPosition = 2,
  // u64 key; u64 address; three NUL-terminated operands of assembly: array, index, sum.
  kFrame = 3,
  // Text lines up to the end: a function that is not instrumented.
  kSkipped = 4,
  // u64 key; text lines up to the end: what the flags of a mechanism of coverage stand for in a
  // function. The key is that of its array.
  kCoverage = 5,
  // u64 key; u64 address of the program's array of flags, each a byte.
  kCoverageArray = 6,
  // u64 key; text lines up to the end: the blocks and calls of a function.
  kFlow = 7,
  // Text lines up to the end: functions of which a translation unit takes the address.
  kUnit = 8,
};

// What an activation's variables hold while a path's number is being stored.
enum class Phase : std::uint8_t {
  kSettled = 0,       // what the block says
  kNumberStored = 1,  // the number is in the slot of the index; the index and the sum are to change
  kIndexMoved = 2,    // the index is changed, too; the sum is to change
};

// Added to a position's phase: it is not the start of its block. Where a machine block begins at
// its address, too, the position says nothing about that block.
inline constexpr std::uint8_t kAfterInstruction = 0x80;

// Names of the variables in DWARF: the documented ones, and those that csi-cc wrote
// (-ftrace-legacy-names).
struct VariableNames {
  const char* array;
  const char* index;
  const char* sum;
};
inline constexpr VariableNames kVariableNames = {"__PT_pathArr", "__PT_arrIndex", "__PT_curPath"};
inline constexpr VariableNames kLegacyVariableNames = {"__PT_counter_arr", "__PT_counter_idx",
                                                       "__PT_current_path"};

}  // namespace telltale::csi
