// Layout of `.debug_telltale_paths`, the section that `telltale-cc --trace` adds to `.debug_PT`
// (docs/formats/csi.md). A record is a 32-bit size of what follows, a byte that is the kind, and
// the fields of the kind, all unaligned and in the byte order of the ELF file. Readers skip kinds
// that they do not know.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telltale::csi {

inline constexpr const char* kPathSection = ".debug_PT";
inline constexpr const char* kRecordSection = ".debug_telltale_paths";
// The flags of coverage, so that they are in one place. Linkers define symbols of its beginning and
// end: __start_telltale_coverage, __stop_telltale_coverage.
inline constexpr const char* kCoverageSection = "telltale_coverage";
// An ELF note by which the crash handler finds these flags in each program and library. Its
// descriptor: two i64, the distances of the beginning and the end of the flags from the note.
inline constexpr char kNoteName[] = "Telltale";
inline constexpr std::uint32_t kCoverageNote = 1;

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
  // u64 key of a flow record; u8 kDataVersion; LEB128 numbers up to the end: what each step of the
  // function's blocks reads and writes.
  kData = 9,
  // Text lines up to the end: names of functions and their files, which scopes refer to by a hash.
  kNames = 10,
};

// The parts of a data record (docs/formats/csi.md, "Data").
inline constexpr unsigned kDataVersion = 1;
inline constexpr unsigned kTakesMemory = 1;  // flag of the function

// The kinds of objects: where one is, and who may access it other than by its name.
enum class Storage : std::uint8_t {
  kMemory = 0,         // what unknown pointers lead to
  kLocal = 1,          // nobody
  kSharedLocal = 2,    // who has its address
  kPrivateGlobal = 3,  // nobody; one of its translation unit
  kUnitGlobal = 4,     // who has its address; one of its translation unit
  kGlobal = 5,         // who has its address; named in all units
};

enum class DataStep : std::uint8_t {
  kValue = 0,
  kStore = 1,
  kCall = 2,
  kBranch = 3,
  kReturn = 4,
  kPhi = 5,
  kEffect = 6,  // several writes
};
// A step's first byte: its kind, and
inline constexpr unsigned kDataKindMask = 0x07;
inline constexpr unsigned kDataHasResult = 0x08;
inline constexpr unsigned kDataHasLine = 0x10;
inline constexpr unsigned kDataHasScope = 0x20;
inline constexpr unsigned kDataUsesShift = 6;  // number of uses, or
inline constexpr unsigned kDataManyUses = 3;   // it follows

// The lowest bits of a use or a write; the others are the number of a value or an object.
inline constexpr unsigned kDataUseBits = 2;
enum class DataUse : std::uint8_t {
  kValue = 0,     // of a write: the whole object
  kContents = 1,  // of the object, bytes that are not known
  kRange = 2,     // the same; first byte and number of bytes follow
  kAddress = 3,   // of the object, not what is in it
};

// Values that are used are near those that are computed: a value's number is written as the
// distance from the number of the next result; even: back, odd: forward.
constexpr std::uint64_t data_distance(std::uint32_t next, std::uint32_t value) {
  return value < next ? (std::uint64_t{next} - value - 1) * 2
                      : (std::uint64_t{value} - next) * 2 + 1;
}
// The value; more than 32 bits if there can be none.
constexpr std::uint64_t data_value(std::uint32_t next, std::uint64_t distance) {
  return distance % 2 == 0 ? std::uint64_t{next} - distance / 2 - 1
                           : std::uint64_t{next} + distance / 2;
}

// What a call may do, by what the compiler knows of the callee.
inline constexpr unsigned kCallReads = 1;
inline constexpr unsigned kCallWrites = 2;
inline constexpr unsigned kCallArgumentsOnly = 4;  // it accesses only what its arguments point to

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

// Whether it is one of the runtime libraries' functions, which compilers insert calls of.
inline bool is_of_runtime(std::string_view symbol) {
  return symbol.starts_with("telltale_") || symbol.starts_with("__telltale_");
}

// The symbol of a function without the suffix of a variant ("f$CC$PT", "f$none"). Symbols of
// lambdas contain '$', too.
inline std::string_view without_variant(std::string_view symbol) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "BBC", "CC", "FC", "PT"};
  while (true) {
    const std::size_t at = symbol.rfind('$');
    if (at == std::string_view::npos) return symbol;
    // The code generator may have added ".cold" to it.
    const std::string_view last = symbol.substr(at + 1);
    if (std::find(kNames.begin(), kNames.end(), last.substr(0, last.find('.'))) == kNames.end())
      return symbol;
    symbol = symbol.substr(0, at);
  }
}

}  // namespace telltale::csi
