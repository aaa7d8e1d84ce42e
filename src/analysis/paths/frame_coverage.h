#pragma once

#include <vector>

#include "analysis/paths/coverage.h"
#include "analysis/paths/path_history.h"

namespace telltale {

// What an activation executed, by node of the graph: blocks of its history ran. If older paths are
// lost, blocks on every way from the entry to the oldest known one ran too, those on no such way
// did not, and others may have. Certain is what all readings say; nothing is, if there is none or
// the record is contradictory or unreliable.
std::vector<Ran> blocks_of_frame(const PathGraph& graph, const PathHistory& history);

// The blocks that are reachable from `block`, itself included, by node of the graph: what an
// activation that stopped there could still execute. REQUIRES: block < graph.blocks.size().
std::vector<bool> blocks_from(const PathGraph& graph, uint32_t block);

}  // namespace telltale
