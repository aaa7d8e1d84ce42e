#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "analysis/calls/stack_table.h"
#include "analysis/heap/heap_graph.h"
#include "analysis/runtime/weighted_tree.h"

namespace telltale {

// Why objects are alive: each object with a shortest chain of references from a root, as types.
// docs/analysis/heap.md.
struct HeapRetention {
  struct Sum {
    uint64_t objects = 0;
    uint64_t bytes = 0;
  };
  // The live objects of a type, and the chain that holds most of their bytes.
  struct Type {
    FunctionId frame{};
    Sum all;
    Sum unreached;                  // of these: not reachable from any root
    Sum by_chain;                   // of these: the chain holds them
    std::vector<FunctionId> chain;  // from the root to the type
    uint64_t length = 0;            // references in the chain, before equal types are merged
  };
  StackTable chains;        // frames: the root, then types
  std::vector<Sum> sums;    // by StackTable::Id: objects of the chain's last type
  std::vector<Type> types;  // most bytes first
  Sum unreached;            // objects that are not reachable from any root
  uint64_t cut = 0;         // objects whose chain was truncated
};

// Consecutive objects of one type (a linked list) are one frame, so that chains do not grow with
// the data. Weak roots are ignored. Chains are truncated at `max_depth` frames. Frames go to
// `names`.
HeapRetention explain_heap(const HeapGraph& graph, size_t max_depth, FrameNames& names);

// The same as a tree: a root with the chains below it; counts are objects, values bytes (or
// objects, with WeightOf::count). Unreached objects are below a frame of their own.
CallTreePartial retention_tree(const HeapRetention& retention, WeightOf weight, size_t max_depth);

}  // namespace telltale
