// Finds the paths of a numbered graph (ball_larus.h) by their numbers, or by the sum at a stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "model/ball_larus.h"

namespace telltale {

// How a path begins: with the function (kFromEntry) or with a back edge, an index of an edge.
using PathStart = std::uint32_t;
inline constexpr PathStart kFromEntry = std::numeric_limits<std::uint32_t>::max();

struct AcyclicPath {
  PathStart start = kFromEntry;
  // Indices of the edges after `start`. The last edge of a complete path is a back edge or leads to
  // kExitNode.
  std::vector<std::uint32_t> edges;
};

struct PathPrefixes {
  std::vector<AcyclicPath> found;
  bool is_complete = true;  // false: the search stopped at a limit
};

// The paths of a numbered graph, as read from `.debug_PT`.
class PathNumbers {
 public:
  // `edges` in the order of `.debug_PT`; only the order of edges of the same source matters.
  // Nothing if an edge has a node outside `node_count`, the exit has a successor, edges that are
  // not back edges form a cycle, a node other than the exit has no successor although an edge leads
  // to it, or there are more than kMostPaths.
  static std::optional<PathNumbers> from_edges(std::uint32_t node_count,
                                               std::span<const PathEdge> edges);

  [[nodiscard]] std::uint64_t path_count() const { return path_count_; }
  [[nodiscard]] std::span<const PathEdge> edges() const { return edges_; }
  // The node where a path with this start begins.
  [[nodiscard]] std::uint32_t first_node(PathStart start) const {
    return start == kFromEntry ? kEntryNode : edges_[start].to;
  }

  // The complete path with a number; nothing for a number that no path has.
  [[nodiscard]] std::optional<AcyclicPath> path(std::uint64_t number) const;
  // The number of a complete path.
  [[nodiscard]] std::uint64_t number(const AcyclicPath& path) const;

  // Incomplete paths from `start` to `node` on which the sum becomes `sum`. With the metadata of a
  // correct compiler there is at most one. At most `limit` are returned, and at most `steps` edges
  // tried, since hostile metadata can have exponentially many.
  [[nodiscard]] PathPrefixes prefixes(PathStart start, std::uint32_t node, std::uint64_t sum,
                                      std::size_t limit = 2, std::size_t steps = 1'000'000) const;

 private:
  PathNumbers() = default;
  bool sort_nodes(std::uint32_t node_count);
  bool count_paths();
  [[nodiscard]] std::span<const std::uint32_t> out_edges(std::uint32_t node) const {
    return std::span(by_source_).subspan(first_out_[node], first_out_[node + 1] - first_out_[node]);
  }

  struct Begin {
    std::uint64_t first_number = 0;
    PathStart start = kFromEntry;
  };

  std::vector<PathEdge> edges_;
  std::vector<std::uint32_t> by_source_;  // edge indices, grouped by source
  std::vector<std::uint32_t> first_out_;  // by node: its first index in by_source_
  std::vector<std::uint32_t> order_;      // nodes; edges that are not back edges lead forward
  std::vector<std::uint64_t> weights_;    // by edge
  std::vector<Begin> begins_;             // by first_number
  std::uint64_t path_count_ = 0;
};

}  // namespace telltale
