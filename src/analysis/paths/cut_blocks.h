#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace telltale {

// Blocks by index, with their successors.
using BlockEdges = std::vector<std::vector<uint32_t>>;

// The blocks that every way from block 0 to one of `targets` passes, in their order, with block 0
// and, of a single target, the target itself. Only blocks that are `possible` are passed. Empty if
// no target can be reached. Time is linear. REQUIRES: indices exist; `possible` has an element for
// each block.
std::vector<uint32_t> cut_blocks(const BlockEdges& edges, const std::vector<bool>& possible,
                                 std::span<const uint32_t> targets);

// Blocks that are reached from `from` on edges between possible blocks, and those among `from` that
// are possible.
std::vector<bool> reach_blocks(const BlockEdges& edges, const std::vector<bool>& possible,
                               std::span<const uint32_t> from);

BlockEdges reversed(const BlockEdges& edges);

}  // namespace telltale
