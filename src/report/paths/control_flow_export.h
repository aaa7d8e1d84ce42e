#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"

namespace telltale {

// The control flow graph of a function that telltale-cc --trace instrumented.
struct ControlFlowGraph {
  struct Edge {
    uint32_t to = 0;  // index of a block
    bool is_back = false;
    // Of path tracing: the path sum's increment, and the weight as .debug_PT prints it.
    std::optional<std::pair<uint64_t, uint64_t>> numbers;
  };
  struct Block {
    std::string name;                  // "entry", or its number in the metadata
    std::vector<uint32_t> lines;       // without repetitions in sequence
    std::vector<std::string> labels;   // of its probes: "BBC3"
    std::vector<std::string> callees;  // linker's names; "?": called through a pointer
    std::vector<Edge> edges;
    bool exits = false;
  };
  std::string symbol;
  std::string copy_of;        // symbol of the function of the source; empty: it is no copy
  std::string file;           // empty: unknown
  std::vector<Block> blocks;  // the first is the entry
};

// The graphs in a program, shared library, object file or archive: from the records of coverage, or
// for functions without them from .debug_PT. Damage goes to `problems`. Errors: those of
// read_static_sections.
Result<std::vector<ControlFlowGraph>> read_control_flow(Bytes file, const std::string& path,
                                                        ProblemLog& problems);

// GraphML with the keys of csi-cc's graphs. A node is a block; functions have an entry and an exit
// node, and calls are edges to the entry of the callee. Errors: the sink's.
Result<void> write_graphml(const std::vector<ControlFlowGraph>& graphs, const ByteSink& sink);
// For Graphviz: a cluster for each function.
Result<void> write_dot(const std::vector<ControlFlowGraph>& graphs, const ByteSink& sink);

}  // namespace telltale
