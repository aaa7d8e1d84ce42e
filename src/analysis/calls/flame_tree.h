#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/calls/call_tree.h"

namespace telltale {

// A call tree prepared for drawing: one root, callees of a node widest first, without nodes that
// are too narrow to see. docs/analysis/call-tree.md, "Flame graphs".
struct FlameTree {
  struct Node {
    FunctionId function{};  // undefined for the root, which comes first
    uint32_t depth = 0;     // 0: the root
    uint64_t calls = 0;
    uint64_t calls_inside = 0;  // of this node and everything below it, pruned nodes included
    Ticks total = 0;
    Ticks self = 0;
  };
  // The numbers of a node in another recording.
  struct Numbers {
    uint64_t calls = 0;
    uint64_t calls_inside = 0;
    Ticks total = 0;
    Ticks self = 0;
  };
  std::vector<Node> nodes;           // depth first
  std::vector<Numbers> before = {};  // one for each node if two recordings are compared; else empty
  uint64_t pruned_nodes = 0;
  Ticks pruned_self = 0;     // self time of the pruned nodes
  double widest_pruned = 0;  // the largest share of all (0 to 1) that a pruned node has
};

struct FlameLimits {
  double min_share = 0.0001;   // minimum share of all time, or of all calls, of a node
  size_t max_nodes = 100'000;  // limit; the narrowest are pruned
  // min_share does not apply if more than this share of the self time would be pruned for it: of
  // ten thousand equal functions, none would be left.
  double most_pruned = 1;
};

// The subtree of one root of `tree`. The remaining nodes are connected, because a caller's share is
// never less than its callee's. Ties are in the tree's order.
FlameTree make_flame_tree(const CallTree& tree, const CallTree::Root& root,
                          const FlameLimits& limits);

}  // namespace telltale
