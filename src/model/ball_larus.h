// Ball-Larus path numbering: numbers the acyclic paths of a control flow graph
// (docs/formats/csi.md; T. Ball and J. R. Larus, "Efficient path profiling", MICRO 1996).
//
// An activation of a function runs a sequence of acyclic paths. A path begins at the entry or at
// the target of a back edge, and ends with a back edge or at the exit. Each edge adds its increment
// to a sum; the sum at the end of a path is the path's number.
//
// This header depends on the standard library alone: the compiler plugin includes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace telltale {

// Nodes of every numbered graph.
inline constexpr std::uint32_t kEntryNode = 0;
inline constexpr std::uint32_t kExitNode = 1;
// The default limit of csi-cc. Numbers of paths are below it; -1 marks a slot that is not in use.
inline constexpr std::uint64_t kMostPaths = (std::uint64_t{1} << 63U) - 2;

// A basic block, as the input of number_paths().
struct FlowBlock {
  std::vector<std::uint32_t> successors;  // block indices in the order of the terminator; a block
                                          // that occurs twice is the target of two parallel edges
  bool leaves = false;  // returns, resumes unwinding, or is unreachable at its end
  // The position of the successor whose edge gets no increment.
  std::uint32_t likely = 0;
  // How often each edge is taken, for NumberingOptions::numbers_prefixes; empty if unknown.
  std::vector<std::uint64_t> frequencies = {};
};

struct PathEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  // Ends a path, and begins another one at `to`: a back edge, or an edge where paths are cut.
  bool is_back = false;
  // What the edge adds to the sum. Of a back edge: the sum at the beginning of the next path.
  std::uint64_t increment = 0;
  // As `.debug_PT` prints it. Of a back edge: the number of the first path that begins with it.
  // Of other edges it is a hint only: PathNumbers recomputes it from the order of edges.
  std::uint64_t weight = 0;
  // What a back edge adds to the sum before its path's number is stored. Not in `.debug_PT`.
  std::uint64_t exit_increment = 0;
  // The path's number is stored here; the rest of the path up to the exit has no increments. Of
  // back edges that do not repeat always true.
  bool completes = false;
  // A back edge that stores no number: it only adds one to the repetitions of the current path,
  // which go with its sum (kRepetition).
  bool repeats = false;
};

// In functions with edges that repeat (PathEdge::repeats), the number is in the lowest bits of the
// sum, and how often the path took such an edge in those above.
inline constexpr unsigned kRepetitionShift = 24;
inline constexpr std::uint64_t kRepetition = std::uint64_t{1} << kRepetitionShift;

// The place of the code of an edge.
enum class PathCodePlace : std::uint8_t { kEndOfSource, kStartOfTarget };

struct NumberedNode {
  static constexpr std::uint32_t kNoBlock = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t block =
      kNoBlock;  // an index into the input; of the exit and of new blocks kNoBlock
};

// A new block in the middle of a critical edge.
struct SplitEdge {
  std::uint32_t node = 0;       // of the new block
  std::uint32_t block = 0;      // the source of the edge, an index into the input
  std::uint32_t successor = 0;  // the position of the edge among the source's successors
};

struct NumberedEdge : PathEdge {
  PathCodePlace place = PathCodePlace::kEndOfSource;
};

struct NumberedGraph {
  // Up to kMostPaths; std::numeric_limits<uint64_t>::max() if there are at least 2^64 - 1.
  std::uint64_t path_count = 0;
  // Nodes that consume an id even if the function has too many paths.
  std::uint32_t discovered = 0;
  // All blocks that the entry reaches. Empty, like all members below, above the limit.
  std::vector<NumberedNode> nodes;
  std::vector<NumberedEdge> edges;         // in the order of `.debug_PT`
  std::vector<std::uint32_t> print_order;  // of nodes in `.debug_PT`: exit, entry, others
  std::vector<SplitEdge> splits;           // in the order of their nodes
};

struct NumberingOptions {
  // With more paths the result has only its counts. At most kMostPaths.
  std::uint64_t most_paths = kMostPaths;
  // Where more paths than this begin in a block, they are cut: the edges that leave it become like
  // back edges. By default never.
  std::uint64_t cut_above = std::numeric_limits<std::uint64_t>::max();
  // Whether the number of a path that ends at the exit is stored, as csi-cc does. Otherwise the sum
  // remains until the activation ends.
  bool stores_at_exit = true;
  // Increments number the ways to each block (prefix_numbers.h) instead of complete paths: the edge
  // into a block that is taken most often has no increment, and no edge that leaves a block needs
  // one. Weights remain those of complete paths.
  bool numbers_prefixes = false;
  // Where more ways than this lead to a block, paths are cut before it.
  std::uint64_t most_prefixes = kRepetition;
};

// Numbers the paths of a function. `blocks[0]` is the entry; nothing branches to it. Every block
// without successors must leave. Critical edges are split, and increments are placed as csi-cc
// does, so that `.debug_PT` is the same text.
NumberedGraph number_paths(std::span<const FlowBlock> blocks, const NumberingOptions& options = {});

// Whether any edge stores the number of a path. Otherwise an activation needs no ring: it runs a
// single path, and the sum says which.
bool stores_numbers(const NumberedGraph& graph);

}  // namespace telltale
