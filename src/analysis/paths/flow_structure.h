#pragma once

#include <cstdint>
#include <vector>

#include "analysis/paths/cut_blocks.h"
#include "analysis/paths/function_copies.h"
#include "analysis/paths/program_flow.h"

namespace telltale {

// What follows from the flow of a program alone: the same for all of its processes, and made once.
struct FlowStructure {
  explicit FlowStructure(const ProgramFlow& flow);

  FunctionCopies copies;
  std::vector<BlockEdges> edges;               // by function
  std::vector<std::vector<uint32_t>> callers;  // by function: those that may call it
  std::vector<uint64_t> sizes;                 // by function: blocks, edges and calls
  bool may_resume = false;  // a call can go on elsewhere; none of a program in C can
};

}  // namespace telltale
