// Positions of path tracing in machine code, without text for the assembler to parse: inline
// assembly with an empty text has them as metadata. Its instructions and records are emitted when
// LLVM prints it.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Instructions.h>
#include <llvm/TargetParser/Triple.h>

#include <cstdint>

namespace telltale::instrument {

// An instruction before a position. On x86-64: movq or addq of an operand to memory.
enum class MarkedChange : std::uint8_t { kNone, kMove, kAdd };

// The operands of the assembly are the memory of each change ("=*m") and the operand of each change
// ("er"). Its metadata `srcloc`, which LLVM keeps in machine code, are this string, and a string of
// numbers: the key of the function, and `position_mark` of each position. A change comes before the
// position whose mark has it.
inline constexpr const char* kPositionsMark = "telltale.positions";

// The operands of the assembly that says where the variables are: the memory of each variable that
// there is ("*m": sum, ring, index). The numbers are the key, and a bit for each of the three.
inline constexpr const char* kFrameMark = "telltale.frame";

// Sets the metadata.
void mark_assembly(llvm::CallInst& assembly, const char* mark,
                   llvm::ArrayRef<std::uint64_t> numbers);

// Bytes of the record of a position (formats/csi/wire.h), without the size itself.
inline constexpr std::uint32_t kPositionSize = 22;

// `id` and `flags` as in that record.
constexpr std::uint64_t position_mark(std::uint32_t id, std::uint8_t flags, MarkedChange change) {
  return std::uint64_t{id} | std::uint64_t{flags} << 32U |
         static_cast<std::uint64_t>(change) << 40U;
}

// From now on, code that this process generates for the target has the positions. `triple` must
// be of a target with ELF files.
void print_positions(const llvm::Triple& triple);

}  // namespace telltale::instrument
