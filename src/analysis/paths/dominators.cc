#include "analysis/paths/dominators.h"

#include <algorithm>
#include <span>
#include <utility>

namespace telltale {
namespace {

// Blocks that are reached from the root, in reverse postorder.
std::vector<uint32_t> reverse_postorder(const BlockEdges& edges, uint32_t root) {
  std::vector<uint32_t> order;
  std::vector<std::pair<uint32_t, size_t>> open = {{root, 0}};
  std::vector<bool> seen(edges.size(), false);
  seen[root] = true;
  while (!open.empty()) {
    auto& [block, next] = open.back();
    if (next == edges[block].size()) {
      order.push_back(block);
      open.pop_back();
      continue;
    }
    const uint32_t after = edges[block][next++];
    if (seen[after]) continue;
    seen[after] = true;
    open.emplace_back(after, 0);
  }
  std::ranges::reverse(order);
  return order;
}

}  // namespace

// K. Cooper, T. Harvey, K. Kennedy, "A simple, fast dominance algorithm" (2001).
std::vector<uint32_t> immediate_dominators(const BlockEdges& edges, const BlockEdges& back,
                                           uint32_t root, size_t most_steps) {
  const std::vector<uint32_t> order = reverse_postorder(edges, root);
  std::vector<uint32_t> position(edges.size(), kNoDominator);
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::vector<uint32_t> above(edges.size(), kNoDominator);
  above[root] = root;
  size_t steps = 0;
  const auto common = [&](uint32_t a, uint32_t b) {
    for (; a != b && steps <= most_steps; ++steps) {
      uint32_t& lower = position[a] > position[b] ? a : b;
      lower = above[lower];
    }
    return a;
  };
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const uint32_t block : std::span(order).subspan(1)) {
      uint32_t found = kNoDominator;
      for (const uint32_t before : back[block]) {
        ++steps;
        if (above[before] == kNoDominator) continue;
        found = found == kNoDominator ? before : common(found, before);
      }
      if (steps > most_steps) return {};
      is_new = is_new || above[block] != found;
      above[block] = found;
    }
  }
  return above;
}

}  // namespace telltale
