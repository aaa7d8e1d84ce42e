// The code of path tracing: variables of an activation, and code on edges.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "model/ball_larus.h"
#include "trace_options.h"

namespace telltale::instrument {

// Inputs for the code of one function.
struct TracedFunction {
  llvm::Function& function;
  const NumberedGraph& numbered;
  const std::vector<llvm::BasicBlock*>& block_of_node;  // null: the exit
  std::uint64_t first_id = 0;                           // of node 0, in .debug_PT
  std::uint64_t key = 0;                                // of the function's record
  bool optimised_later = false;                         // functions may be inlined afterwards
  // The variables are set where they are first needed, and the index may have a copy in a register.
  bool sets_late = false;
  // The increments number prefixes, and the slot of the index has the sum of the current path.
  bool numbers_prefixes = false;
};

// Whether activations have a ring of path numbers and its index. Readers of csi-cc's variables
// expect them in every function.
inline bool keeps_ring(const NumberedGraph& numbered, const TraceOptions& options) {
  return options.legacy_names || stores_numbers(numbered);
}

// The slots of the ring. One of a ring with the sum is not for completed paths; a power of two
// makes the step to the next slot cheap.
inline std::uint64_t ring_slots(const TraceOptions& options, bool has_sum) {
  return has_sum ? std::bit_ceil(options.ring_size + 1) : options.ring_size;
}

// Inserts variables, code and positions. Returns the instructions that .debug_PT prints as -1: one
// for each store of a path number.
llvm::DenseSet<const llvm::Instruction*> insert_path_code(const TracedFunction& traced,
                                                          const TraceOptions& options);

}  // namespace telltale::instrument
