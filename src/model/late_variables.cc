#include "model/late_variables.h"

namespace telltale {

LateVariables late_variables(std::uint32_t node_count, std::span<const PathEdge> edges) {
  std::vector<std::vector<std::uint32_t>> out(node_count);
  std::vector<std::vector<std::uint32_t>> in(node_count);
  LateVariables late{std::vector<bool>(node_count, true),
                     std::vector<std::uint64_t>(node_count, 0),
                     std::vector<bool>(node_count, false),
                     {}};
  std::vector<std::uint32_t> pending;
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    out[edges[i].from].push_back(i);
    in[edges[i].to].push_back(i);
    if (edges[i].is_back && !edges[i].repeats) pending.push_back(edges[i].to);
  }
  const auto mark = [&](std::vector<bool>& marked, const auto& edges_of, auto end_of) {
    while (!pending.empty()) {
      const std::uint32_t node = pending.back();
      pending.pop_back();
      if (marked[node]) continue;
      marked[node] = true;
      for (const std::uint32_t index : edges_of[node]) pending.push_back(end_of(edges[index]));
    }
  };
  // Behind a back edge, there is a ring.
  mark(late.has_ring, out, [](const PathEdge& edge) { return edge.to; });
  // What leads to a back edge leads to its target, which has a ring.
  for (std::uint32_t node = 0; node < node_count; ++node) {
    if (late.has_ring[node] && node != kExitNode) pending.push_back(node);
  }
  late.wants_ring.assign(node_count, false);
  mark(late.wants_ring, in, [](const PathEdge& edge) { return edge.from; });
  pending.push_back(kEntryNode);
  while (!pending.empty()) {
    const std::uint32_t node = pending.back();
    pending.pop_back();
    if (!late.has_sum[node] || (node != kEntryNode && in[node].size() != 1)) continue;
    late.has_sum[node] = false;
    for (const std::uint32_t index : out[node]) {
      const PathEdge& edge = edges[index];
      if (edge.is_back || edge.to == kExitNode || in[edge.to].size() != 1) continue;
      late.known_sum[edge.to] = late.known_sum[node] + edge.increment;
      pending.push_back(edge.to);
    }
  }
  return late;
}

}  // namespace telltale
