#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ball_larus.h"

namespace telltale {

// Where the variables of an activation have values if code sets them late: not at the entry, but
// where the sum is no longer the same on all ways from the entry. All members are by node.
struct LateVariables {
  std::vector<bool> has_sum;  // false: a single way leads here, on which the sum is known_sum
  std::vector<std::uint64_t> known_sum;
  std::vector<bool> has_ring;  // false: no edge that stores a number leads here
};
// `edges` of the graph as in `.debug_PT`, with nodes below `node_count`.
LateVariables late_variables(std::uint32_t node_count, std::span<const PathEdge> edges);

// Whether an activation has variables at all: not if one way leads to each block, so that the block
// where it stops says how it ran. `late` is that of `edges`.
bool needs_variables(const LateVariables& late, std::span<const PathEdge> edges);

}  // namespace telltale
