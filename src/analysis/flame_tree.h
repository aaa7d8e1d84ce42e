#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/call_tree.h"

namespace telltale {

// A call tree made fit for drawing: one root, callees of a node widest first, and nothing that is
// too narrow to be seen. docs/analysis/call-tree.md, "Flame graphs".
struct FlameTree {
  struct Node {
    FunctionId function{};  // means nothing in the root, which comes first
    uint32_t depth = 0;     // 0: the root
    uint64_t calls = 0;
    uint64_t calls_inside = 0;  // of this node and everything below it, pruned nodes included
    Ticks total = 0;
    Ticks self = 0;
  };
  std::vector<Node> nodes;  // depth first
  uint64_t pruned_nodes = 0;
  Ticks pruned_self = 0;     // self time of the pruned nodes
  double widest_pruned = 0;  // the largest share of all (0 to 1) that a pruned node has
};

struct FlameLimits {
  double min_share = 0.0001;   // a node is kept if its share of all time, or of all calls, is at
                               // least this
  size_t max_nodes = 100'000;  // beyond it the narrowest are pruned
};

// The subtree of one root of `tree`. Kept nodes always hang together: a caller's share is never
// less than its callee's. Ties go by the tree's order.
FlameTree make_flame_tree(const CallTree& tree, const CallTree::Root& root,
                          const FlameLimits& limits);

}  // namespace telltale
