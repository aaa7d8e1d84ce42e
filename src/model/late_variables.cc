#include "model/late_variables.h"

#include <algorithm>

namespace telltale {

LateVariables late_variables(std::uint32_t node_count, std::span<const PathEdge> edges) {
  std::vector<std::vector<std::uint32_t>> out(node_count);
  std::vector<std::vector<std::uint32_t>> in(node_count);
  LateVariables late{std::vector<bool>(node_count, true), std::vector<std::uint64_t>(node_count, 0),
                     std::vector<bool>(node_count, false)};
  std::vector<std::uint32_t> pending;
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    out[edges[i].from].push_back(i);
    in[edges[i].to].push_back(i);
    if (edges[i].is_back && !edges[i].repeats) pending.push_back(edges[i].to);
  }
  // The ring has values wherever control can get from a back edge.
  while (!pending.empty()) {
    const std::uint32_t node = pending.back();
    pending.pop_back();
    if (late.has_ring[node]) continue;
    late.has_ring[node] = true;
    for (const std::uint32_t index : out[node]) pending.push_back(edges[index].to);
  }
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

bool needs_variables(const LateVariables& late, std::span<const PathEdge> edges) {
  for (std::size_t node = 0; node < late.has_sum.size(); ++node) {
    if (node != kExitNode && (late.has_sum[node] || late.has_ring[node])) return true;
  }
  return std::any_of(edges.begin(), edges.end(), [](const PathEdge& edge) { return edge.is_back; });
}

}  // namespace telltale
