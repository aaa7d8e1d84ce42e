#include "analysis/paths/coverage.h"

#include <cstddef>

namespace telltale {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFF;

bool is_unset(const FlaggedGraph& graph, uint32_t block) {
  return graph.blocks[block].flag == false;
}

// Blocks that some activation can have reached from the entry without passing `avoided`.
std::vector<bool> reach(const FlaggedGraph& graph, uint32_t avoided) {
  std::vector<bool> reached(graph.blocks.size(), false);
  std::vector<uint32_t> pending;
  const auto add = [&](uint32_t block) {
    if (reached[block] || block == avoided) return;
    if (!graph.flags_follow_calls && is_unset(graph, block)) return;
    reached[block] = true;
    // Without the flag it was entered, but not left, or only by a call that went on elsewhere.
    if (!is_unset(graph, block) || graph.blocks[block].may_resume) pending.push_back(block);
  };
  if (!graph.blocks.empty()) add(0);
  while (!pending.empty()) {
    const uint32_t block = pending.back();
    pending.pop_back();
    const std::vector<uint32_t>& successors = graph.blocks[block].successors;
    for (size_t i = is_unset(graph, block) ? 1 : 0; i < successors.size(); ++i) add(successors[i]);
  }
  return reached;
}

// Bounds the work on large functions; blocks beyond it stay "maybe".
constexpr size_t kMostVisits = size_t{1} << 26;

std::vector<Ran> infer(const FlaggedGraph& graph, bool must_end) {
  const std::vector<bool> possible = reach(graph, kNone);
  std::vector<Ran> ran(graph.blocks.size(), Ran::no);
  std::vector<uint32_t> certain;  // with flags that are set
  for (uint32_t block = 0; block < graph.blocks.size(); ++block) {
    if (graph.blocks[block].flag == true) certain.push_back(block);
  }
  size_t visits = 0;
  for (uint32_t block = 0; block < graph.blocks.size(); ++block) {
    const bool is_set = graph.blocks[block].flag == true;
    if (is_set) ran[block] = Ran::yes;
    if (is_set || !possible[block] || (must_end && is_unset(graph, block))) continue;
    ran[block] = Ran::maybe;
    if (certain.empty() || visits > kMostVisits) continue;
    // If a block with a set flag cannot be reached without this one, this one ran.
    visits += graph.blocks.size();
    const std::vector<bool> without = reach(graph, block);
    for (const uint32_t set : certain) {
      if (!without[set] && possible[set]) ran[block] = Ran::yes;
    }
  }
  return ran;
}

}  // namespace

std::vector<Ran> blocks_that_ran(const FlaggedGraph& graph) { return infer(graph, false); }

std::vector<Ran> blocks_that_ended(const FlaggedGraph& graph) { return infer(graph, true); }

}  // namespace telltale
