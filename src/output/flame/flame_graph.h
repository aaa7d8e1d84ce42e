#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/calls/flame_tree.h"
#include "base/error.h"
#include "model/clock.h"
#include "model/function_names.h"
#include "output/output_file.h"
#include "output/tree/tree_units.h"

namespace telltale {

// The content of a flame graph: titled trees ("all threads", "thread 4711"), and facts about the
// recording ("span", "1.2 s"). Text may be arbitrary bytes.
struct FlameGraph {
  struct Tree {
    std::string title;
    FlameTree tree;
  };
  // For a comparison of two recordings: their names. All trees then have FlameTree::before.
  struct Compared {
    std::string before;
    std::string after;
  };
  std::string title;  // of the page
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<Tree> trees;  // at least one
  TreeUnits units = {};     // of all trees
  std::optional<Compared> compared = std::nullopt;
};

// A self-contained interactive page: no network, no inline event handlers, and a content security
// policy that allows only its own script and style. Errors: the file's.
Result<void> write_flame_html(const FlameGraph& graph, const Clock& clock,
                              const FunctionNames& names, OutputFile& out);

// The first tree as an SVG 1.1 image with a title per box, callers on top. Omits boxes narrower
// than a tenth of a pixel, and states their number. Errors: the file's.
Result<void> write_flame_svg(const FlameGraph& graph, const Clock& clock,
                             const FunctionNames& names, OutputFile& out);

}  // namespace telltale
