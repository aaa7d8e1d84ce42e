#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/paths/cut_blocks.h"

namespace telltale {

constexpr uint32_t kNoDominator = std::numeric_limits<uint32_t>::max();

// By block: of the other blocks that every way from `root` to it passes, the last. The root's is
// the root; blocks that are not reached have kNoDominator. Empty after more than `most_steps`,
// which grow with the square of the blocks at most. `back`: reversed(edges).
std::vector<uint32_t> immediate_dominators(const BlockEdges& edges, const BlockEdges& back,
                                           uint32_t root,
                                           size_t most_steps = std::numeric_limits<size_t>::max());

}  // namespace telltale
