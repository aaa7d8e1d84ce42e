#pragma once

// Simulates a function with path tracing: a random control flow graph, numbered as the compiler
// numbers it, executed up to any block.

#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "analysis/paths/path_history.h"
#include "model/path_numbers.h"

namespace telltale::testing {

class SimulatedFunction {
 public:
  explicit SimulatedFunction(const std::vector<FlowBlock>& blocks,
                             const NumberingOptions& options = {})
      : graph_(number_paths(blocks, options)),
        out_(graph_.nodes.size()),
        numbers_prefixes_(options.numbers_prefixes) {
    for (uint32_t i = 0; i < graph_.edges.size(); ++i) out_[graph_.edges[i].from].push_back(i);
  }

  // Loops, irreducible ones among them, switches with shared targets, and several exits.
  static SimulatedFunction random(std::mt19937_64& random, size_t most_blocks,
                                  const NumberingOptions& options = {}) {
    const size_t count = 2 + random() % (most_blocks - 1);
    std::vector<FlowBlock> blocks(count);
    for (FlowBlock& block : blocks) {
      for (size_t n = random() % 8 == 0 ? random() % 5 : random() % 3; n-- > 0;)
        block.successors.push_back(1 + static_cast<uint32_t>(random() % (count - 1)));
      block.leaves = block.successors.empty();
    }
    return SimulatedFunction(blocks, options);
  }

  // As the metadata have it; empty if there are too many paths.
  [[nodiscard]] std::optional<PathGraph> graph() const {
    if (graph_.nodes.empty()) return std::nullopt;
    std::vector<PathEdge> printed;
    std::vector<PathGraph::Block> blocks(graph_.nodes.size());
    for (const NumberedEdge& edge : graph_.edges) {
      printed.push_back({edge.from, edge.to, edge.is_back, edge.increment, edge.weight,
                         edge.exit_increment, edge.completes, edge.repeats});
      if (edge.completes) {
        const bool at_source = edge.place == PathCodePlace::kEndOfSource;
        blocks[at_source ? edge.from : edge.to].stores_path = true;
      }
    }
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i].id = i;
    auto numbers = PathNumbers::from_edges(static_cast<uint32_t>(blocks.size()), printed);
    if (!numbers) return std::nullopt;
    PathGraph graph{.blocks = std::move(blocks), .numbers = *std::move(numbers)};
    if (numbers_prefixes_) {
      graph.sets_late = true;
      graph.prefixes =
          PrefixNumbers::from_edges(static_cast<uint32_t>(graph.blocks.size()), printed);
      if (!graph.prefixes) return std::nullopt;
    }
    return graph;
  }

  struct Run {
    PathRecord record;
    std::vector<uint32_t> trace;  // all blocks, in order
    size_t stored = 0;            // path numbers
  };
  // Stopped after `steps` edges, or before it returns.
  Run run(std::mt19937_64& random, size_t steps, size_t ring_size) const {
    Run run;
    for (size_t i = 0; i < ring_size; ++i)
      run.record.ring.push_back(static_cast<int64_t>(random() >> 1U));  // what was there before
    (numbers_prefixes_ ? run.record.ring.front() : run.record.ring.back()) =
        numbers_prefixes_ ? 0 : -1;
    run.trace.push_back(kEntryNode);
    for (uint32_t node = kEntryNode; steps > 0; --steps) {
      const NumberedEdge& edge = graph_.edges[out_[node][random() % out_[node].size()]];
      if (edge.to == kExitNode) {
        // It may be stopped after the store at the end of its last block.
        if (edge.place == PathCodePlace::kEndOfSource && random() % 2 == 0) take(edge, run);
        break;
      }
      take(edge, run);
      node = edge.to;
      run.trace.push_back(node);
    }
    return run;
  }

 private:
  void take(const NumberedEdge& edge, Run& run) const {
    PathRecord& record = run.record;
    if (numbers_prefixes_) {
      if (edge.repeats) {
        record.ring[record.next] += static_cast<int64_t>(kRepetition);
        return;
      }
      if (edge.is_back) {
        record.next = (record.next + 1) % record.ring.size();
        record.ring[record.next] = 0;
        ++run.stored;
      }
      record.ring[record.next] += static_cast<int64_t>(edge.increment);
      return;
    }
    record.sum += static_cast<int64_t>(edge.is_back ? edge.exit_increment : edge.increment);
    if (!edge.is_back && !edge.completes) return;
    record.ring[record.next] = record.sum;
    record.next = (record.next + 1) % record.ring.size();
    record.sum = edge.is_back ? static_cast<int64_t>(edge.increment) : 0;
    ++run.stored;
  }

  NumberedGraph graph_;
  std::vector<std::vector<uint32_t>> out_;  // indexes of edges, by node
  bool numbers_prefixes_;
};

}  // namespace telltale::testing
