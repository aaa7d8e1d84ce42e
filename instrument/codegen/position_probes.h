// Once registers are allocated, a position that changes no variable needs no inline assembly any
// more: nothing reorders memory accesses and calls after that. As a pseudo probe it has no size
// for the passes that place, copy and remove blocks, so that they do what they do without it.
#pragma once

#include <llvm/CodeGen/MachineInstr.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <optional>

namespace telltale::instrument {

// From now on, the code generator of this process replaces assembly that mark_assembly() marked as
// a single position, except without optimisation, for processors whose code is scheduled after
// register allocation, and in modules with pseudo probes of their own. `module`: the one that it
// will get. With clang 19, not if that has functions with a garbage collector.
void replace_positions_by_probes(const llvm::Module& module);

struct PositionProbe {
  std::uint64_t key;   // of the function
  std::uint64_t mark;  // position_mark()
};
// Nothing if the instruction is not such a probe.
std::optional<PositionProbe> position_probe_of(const llvm::MachineInstr& instruction);

}  // namespace telltale::instrument
