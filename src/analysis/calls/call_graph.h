#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "model/events.h"

namespace telltale {

// Callers and callees, summed over all paths of a call tree. docs/analysis/call-tree.md, "The call
// graph".
struct CallGraph {
  struct Function {
    FunctionId function{};
    uint64_t calls = 0;
    Ticks self = 0;
    Ticks total = 0;  // of calls that are not inside another call of the same function
  };
  struct Edge {
    size_t caller = 0;  // index into functions
    size_t callee = 0;
    uint64_t calls = 0;
    Ticks total = 0;  // of calls that are not inside another call along the same edge
  };
  std::vector<Function> functions;  // by id
  std::vector<Edge> edges;          // by caller, then callee
  Ticks total = 0;                  // of all outermost calls
};

// O(nodes x log nodes) time; not recursive.
CallGraph make_call_graph(const CallTree& tree);

struct PrunedGraph {
  size_t functions = 0;
  size_t edges = 0;
};
// Removes functions and edges that have less than `min_share` (0 to 1) of all time and of all
// calls, and edges of removed functions; returns how many were removed.
PrunedGraph prune_call_graph(CallGraph& graph, double min_share);

}  // namespace telltale
