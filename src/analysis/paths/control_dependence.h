#pragma once

#include <cstdint>
#include <vector>

#include "analysis/paths/cut_blocks.h"

namespace telltale {

// An edge that decides whether a block runs: after it, the block is certain to run unless the
// activation stops; another edge of the same source may lead past it.
struct ControlEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  bool operator==(const ControlEdge&) const = default;
};

// Of each block, the edges that it is control dependent on (J. Ferrante, K. Ottenstein, J. Warren,
// "The program dependence graph and its use in optimization", TOPLAS 1987). A block without
// successors ends the activation; loops without an exit are taken to have one. Empty if there are
// more than `limit` in all: in hostile graphs their number grows with the square of the edges.
// REQUIRES: indices exist.
std::vector<std::vector<ControlEdge>> control_dependences(const BlockEdges& edges,
                                                          size_t limit = size_t{1} << 24);

}  // namespace telltale
