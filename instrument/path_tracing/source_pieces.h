// Divides a module's source code, before it is optimised, into pieces: code that runs from its
// first to its last instruction. Each gets a marker, which optimisation moves, copies and removes
// together with the code (docs/design/path-tracing.md, "Lines of optimised code").
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ValueHandle.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace telltale::instrument {

// Tells markers from the probes of -fpseudo-probe-for-profiling, which have hashes of names there.
inline constexpr std::uint64_t kMarkerGroup = 0x74656C6C6C696E65;
inline constexpr std::uint64_t kNoPiece = ~std::uint64_t{0};

// Code that runs from its beginning to its end, if no call in its last instruction prevents it.
struct Piece {
  const llvm::DISubprogram* function = nullptr;
  const llvm::FunctionType* taken_as = nullptr;  // type of its function, if the address is taken
  std::vector<llvm::DILocation*> locations = {};
  std::uint64_t dominator;  // of the same function; `kNoPiece`: none, or not known
  // What runs next; `kNoPiece`: the function ends, or may.
  llvm::SmallVector<std::uint64_t, 2> next = {};
  bool is_first = false;      // of its function
  bool is_optimised = false;  // passes may remove it; without, they only copy and divide it
  // Whether it has effects other than its stores and the call at its end.
  bool has_effects = false;
  // The objects that its ordinary stores write to, except local variables. Optimisation removes
  // stores that nothing reads: those to static variables of this module (`written`; null once the
  // module has dropped the variable), and those to memory that the function itself allocates.
  llvm::SmallVector<llvm::WeakVH, 1> written = {};
  bool writes_by_pointer = false;
  bool writes_elsewhere = false;
  bool function_gets_memory = false;
  bool ends_with_call = false;
  bool call_has_effects = false;               // as far as the call itself tells
  const llvm::DISubprogram* callee = nullptr;  // of this module; null: another, or unknown
  const llvm::FunctionType* called_by_pointer = nullptr;  // type of the callee; null: another call
  const llvm::DILocation* call_place = nullptr;           // of a call of `callee` or by a pointer
  const llvm::DILocation* branch_place = nullptr;         // if it ends with a branch or switch
};

// The pieces of the module that this process compiles, by their number in the markers.
std::vector<Piece>& pieces();
// The first piece of each function, and the one after its last.
using PieceRange = std::pair<std::uint64_t, std::uint64_t>;
llvm::DenseMap<const llvm::DISubprogram*, PieceRange>& ranges_of_pieces();

// Inserts the markers. Call before optimisation and before the Sampler inserts code. If the module
// is neither optimised nor sampled, only coroutines get markers: LLVM splits them, and moves the
// code that prepares their variables to the front.
void mark_source_lines(llvm::Module& module, bool is_optimised, bool is_sampled);

// Such a branch computes nothing: its line, that of `break`, `else` and the like, is not listed.
bool is_unconditional_branch(const llvm::Instruction& instruction);
bool is_line_marker(const llvm::Instruction& instruction);

// The place of an instruction that is code of the source; null: none.
llvm::DILocation* place_in_source(const llvm::Instruction& instruction);

}  // namespace telltale::instrument
