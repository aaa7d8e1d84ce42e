// Numbers of the ways to the blocks of a control flow graph.
//
// A way to a block begins at the entry or with a back edge, and takes no other back edge. Each edge
// into a block has a range of the block's numbers, as long as there are ways to the edge's source;
// a back edge has one number. The number of a way is the sum of the increments on it, where the
// increment of an edge is the beginning of its range. The block and the number say which way it
// was. Edges that repeat begin no way, and are not on one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/path_numbers.h"

namespace telltale {

class PrefixNumbers {
 public:
  // Nothing if an edge has a node outside `node_count`, edges that are not back edges form a cycle,
  // or ranges of a node overlap.
  static std::optional<PrefixNumbers> from_edges(std::uint32_t node_count,
                                                 std::span<const PathEdge> edges);

  // The way to `node` with this number: how it begins, and its edges after that. Nothing for a
  // number that no way has.
  [[nodiscard]] std::optional<AcyclicPath> way(std::uint32_t node, std::uint64_t number) const;

  // A way on which an edge was taken repeatedly.
  struct Repetition {
    AcyclicPath first;   // from where the way begins up to the edge, without it
    AcyclicPath middle;  // from the edge up to itself, which ran between any two times
    AcyclicPath last;    // from the edge on
  };
  // Nothing if no edge that repeats leads to a node of the way.
  [[nodiscard]] std::optional<Repetition> repeated(const AcyclicPath& way) const;

 private:
  PrefixNumbers() = default;
  bool count_ways();
  // Those that begin a way or go on with one.
  [[nodiscard]] std::span<const std::uint32_t> in_edges(std::uint32_t node) const {
    return std::span(by_target_).subspan(first_in_[node], first_in_[node + 1] - first_in_[node]);
  }

  std::vector<PathEdge> edges_;
  std::vector<std::uint32_t> by_target_;  // edge indices, grouped by target, by increment
  std::vector<std::uint32_t> first_in_;   // by node: its first index in by_target_
  std::vector<std::uint64_t> ways_;       // by node
  std::vector<std::uint32_t> repeats_;    // by node: the edge into it that repeats, or kFromEntry
};

}  // namespace telltale
