// How positions of path tracing are kept in code until LLVM prints it (position_printer.h): as
// metadata of inline assembly with an empty text or, late, as operands of pseudo probes.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/CodeGen/MachineInstr.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <optional>

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

// What the metadata of an instruction of machine code say.
struct AssemblyMark {
  llvm::StringRef mark;  // kPositionsMark or kFrameMark
  llvm::SmallVector<std::uint64_t, 4> numbers;
};
// Nothing if `mark_assembly` did not mark the instruction.
std::optional<AssemblyMark> mark_of(const llvm::MachineInstr& instruction);

// The operands of inline assembly, in the order of its constraints; not those it clobbers. They are
// parts of the instruction.
llvm::SmallVector<llvm::ArrayRef<llvm::MachineOperand>, 8> operands_of(
    const llvm::MachineInstr& assembly);

}  // namespace telltale::instrument
