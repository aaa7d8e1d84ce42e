#pragma once

#include <cstdint>
#include <span>

#include "analysis/paths/path_history.h"

namespace telltale {

// The same as read_path_history() for a graph with `prefixes`. The block of a stop and the sum tell
// how the current path began; the back edge that it began with tells where the path before it
// ended, and so on. Where several candidates lead to different completed paths, those that all have
// in common remain.
PathHistory read_prefix_history(const PathGraph& graph, const PathRecord& record,
                                std::span<const uint32_t> candidates);

}  // namespace telltale
