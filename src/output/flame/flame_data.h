#pragma once

#include "output/flame/flame_graph.h"

namespace telltale {

// The trees of a flame graph as data of a page, for tabs of the kinds flame, functions and callers
// (docs/design/page-kit.md). Errors: the file's.
Result<void> write_calls_data(const FlameGraph& graph, const Clock& clock,
                              const FunctionNames& names, OutputFile& out);

}  // namespace telltale
