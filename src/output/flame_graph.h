#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/flame_tree.h"
#include "base/error.h"
#include "model/clock.h"
#include "model/function_names.h"
#include "output/output_file.h"
#include "output/tree_units.h"

namespace telltale {

// What a flame graph shows: trees with a title each ("all threads", "thread 4711"), and facts of
// the recording in words ("span", "1.2 s"). Text may be any bytes.
struct FlameGraph {
  struct Tree {
    std::string title;
    FlameTree tree;
  };
  // Two recordings side by side: what each is called. All trees have FlameTree::before then.
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

// An interactive page that needs nothing but itself: no network, no inline event handlers, a
// content security policy that allows its own script and style only. Errors: the file's.
Result<void> write_flame_html(const FlameGraph& graph, const Clock& clock,
                              const FunctionNames& names, OutputFile& out);

// What the page shows, as JSON: docs/analysis/call-tree.md, "Flame graphs", has the keys. Errors:
// the file's.
Result<void> write_flame_json(const FlameGraph& graph, const Clock& clock,
                              const FunctionNames& names, OutputFile& out);

// The first tree as a drawing (SVG 1.1) with a title a box, callers on top. Boxes narrower than a
// tenth of a pixel are left out; the drawing says how many. Errors: the file's.
Result<void> write_flame_svg(const FlameGraph& graph, const Clock& clock,
                             const FunctionNames& names, OutputFile& out);

}  // namespace telltale
