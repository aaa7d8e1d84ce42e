#pragma once

#include "output/flame/flame_graph.h"
#include "output/flame/page_room.h"

namespace telltale {

// The trees of a flame graph as data of a page, for tabs of the kinds flame, functions and callers
// (docs/design/page-kit.md). Errors: the file's.
Result<void> write_calls_data(const FlameGraph& graph, const Clock& clock,
                              const FunctionNames& names, PageRoom& room, OutputFile& out);

}  // namespace telltale
