#pragma once

#include <cstdint>

#include "output/flame_graph.h"

namespace telltale {

enum class FlameText : uint8_t {
  as_it_is,  // JSON for programs
  for_page,  // what would hide or reorder text is made visible, and nothing can end a script
};

// A flame graph's data as JSON; docs/analysis/call-tree.md, "Flame graphs", has the keys. Errors:
// the file's.
Result<void> write_flame_data(const FlameGraph& graph, const Clock& clock,
                              const FunctionNames& names, FlameText style, OutputFile& out);

}  // namespace telltale
