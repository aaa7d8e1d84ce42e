#include "analysis/paths/coverage.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "analysis/paths/cut_blocks.h"
#include "analysis/paths/dominators.h"

namespace telltale {
namespace {

// Bounds the work on large functions; beyond it, blocks without set flags stay "maybe".
constexpr size_t kMostDominatorSteps = size_t{1} << 26;

bool is_unset(const FlaggedGraph& graph, uint32_t block) {
  return graph.blocks[block].flag == false;
}

// The edges that some activation can have passed.
BlockEdges possible_edges(const FlaggedGraph& graph) {
  BlockEdges edges(graph.blocks.size());
  for (uint32_t block = 0; block < edges.size(); ++block) {
    // Without the flag it was entered, but not left, or only by a call that went on elsewhere.
    if (is_unset(graph, block) && !graph.blocks[block].may_resume) continue;
    const std::vector<uint32_t>& successors = graph.blocks[block].successors;
    for (size_t i = is_unset(graph, block) ? 1 : 0; i < successors.size(); ++i) {
      if (graph.flags_follow_calls || !is_unset(graph, successors[i]))
        edges[block].push_back(successors[i]);
    }
  }
  return edges;
}

void mark_possible(const FlaggedGraph& graph, const BlockEdges& edges, std::vector<Ran>& ran) {
  if (edges.empty() || (!graph.flags_follow_calls && is_unset(graph, 0))) return;
  constexpr uint32_t kEntry = 0;
  const std::vector<bool> all(edges.size(), true);
  const std::vector<bool> reached = reach_blocks(edges, all, std::span(&kEntry, 1));
  for (size_t block = 0; block < ran.size(); ++block)
    if (reached[block]) ran[block] = Ran::maybe;
}

// If a block with a set flag cannot be reached without another one, that one ran.
void mark_certain(const FlaggedGraph& graph, const BlockEdges& edges, std::vector<Ran>& ran) {
  const auto is_set = [](const FlaggedGraph::Block& block) { return block.flag == true; };
  if (std::ranges::none_of(graph.blocks, is_set)) return;
  const std::vector<uint32_t> above =
      ran[0] == Ran::no ? std::vector<uint32_t>()
                        : immediate_dominators(edges, reversed(edges), 0, kMostDominatorSteps);
  for (uint32_t set = 0; set < ran.size(); ++set) {
    if (!is_set(graph.blocks[set])) continue;
    const bool is_reached = ran[set] != Ran::no;
    ran[set] = Ran::yes;
    if (!is_reached || above.empty()) continue;
    for (uint32_t block = above[set]; ran[block] != Ran::yes; block = above[block])
      ran[block] = Ran::yes;
  }
}

}  // namespace

std::vector<Ran> blocks_that_ran(const FlaggedGraph& graph) {
  std::vector<Ran> ran(graph.blocks.size(), Ran::no);
  // Most functions of a program did not begin: nothing but flags says that a block of them ran.
  const bool has_begun = graph.flags_follow_calls || ran.empty() || !is_unset(graph, 0);
  const BlockEdges edges = has_begun ? possible_edges(graph) : BlockEdges(ran.size());
  mark_possible(graph, edges, ran);
  mark_certain(graph, edges, ran);
  return ran;
}

std::vector<Ran> blocks_that_ended(const FlaggedGraph& graph, std::vector<Ran> ran) {
  for (uint32_t block = 0; block < ran.size(); ++block)
    if (is_unset(graph, block)) ran[block] = Ran::no;
  return ran;
}

}  // namespace telltale
