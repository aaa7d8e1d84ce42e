#include "model/prefix_numbers.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace telltale {

std::optional<PrefixNumbers> PrefixNumbers::from_edges(std::uint32_t node_count,
                                                       std::span<const PathEdge> edges) {
  if (node_count < 2 || edges.size() >= kFromEntry) return std::nullopt;
  PrefixNumbers result;
  result.edges_.assign(edges.begin(), edges.end());
  result.first_in_.assign(std::size_t{node_count} + 1, 0);
  for (const PathEdge& edge : edges) {
    if (edge.from >= node_count || edge.to >= node_count) return std::nullopt;
    if (!edge.repeats) ++result.first_in_[edge.to + 1];
  }
  std::partial_sum(result.first_in_.begin(), result.first_in_.end(), result.first_in_.begin());
  result.repeats_.assign(node_count, kFromEntry);
  for (std::uint32_t index = 0; index < edges.size(); ++index) {
    if (!edges[index].repeats) {
      result.by_target_.push_back(index);
      continue;
    }
    std::uint32_t& known = result.repeats_[edges[index].to];
    if (!edges[index].is_back || known != kFromEntry) return std::nullopt;
    known = index;
  }
  std::stable_sort(result.by_target_.begin(), result.by_target_.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return std::pair(edges[a].to, edges[a].increment) <
                            std::pair(edges[b].to, edges[b].increment);
                   });
  result.ways_.assign(node_count, 0);
  if (!result.count_ways()) return std::nullopt;
  return result;
}

// In the order of Kahn's algorithm over the edges that are not back edges.
bool PrefixNumbers::count_ways() {
  const std::size_t node_count = ways_.size();
  std::vector<std::uint32_t> open(node_count, 0);
  std::vector<std::vector<std::uint32_t>> out(node_count);
  for (const PathEdge& edge : edges_) {
    if (edge.is_back) continue;
    ++open[edge.to];
    out[edge.from].push_back(edge.to);
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t node = 0; node < node_count; ++node) {
    if (open[node] == 0) order.push_back(node);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t node = order[i];
    std::uint64_t ways = node == kEntryNode ? 1 : 0;
    // The sum at the exit is of no interest.
    for (const std::uint32_t index : in_edges(node)) {
      if (node == kExitNode) break;
      const PathEdge& edge = edges_[index];
      const std::uint64_t more = edge.is_back ? 1 : ways_[edge.from];
      if (edge.increment < ways ||
          more > std::numeric_limits<std::uint64_t>::max() - edge.increment)
        return false;
      ways = edge.increment + more;
    }
    ways_[node] = ways;
    for (const std::uint32_t next : out[node]) {
      if (--open[next] == 0) order.push_back(next);
    }
  }
  return order.size() == node_count;
}

std::optional<AcyclicPath> PrefixNumbers::way(std::uint32_t node, std::uint64_t number) const {
  if (node >= ways_.size() || node == kExitNode) return std::nullopt;
  AcyclicPath way;
  while (node != kEntryNode || number != 0) {
    const std::span<const std::uint32_t> in = in_edges(node);
    const auto after = std::upper_bound(in.begin(), in.end(), number,
                                        [&](std::uint64_t wanted, std::uint32_t index) {
                                          return wanted < edges_[index].increment;
                                        });
    if (after == in.begin()) return std::nullopt;
    const std::uint32_t index = *(after - 1);
    number -= edges_[index].increment;
    if (edges_[index].is_back) {
      if (number != 0) return std::nullopt;
      way.start = index;
      break;
    }
    node = edges_[index].from;
    if (number >= ways_[node]) return std::nullopt;
    way.edges.push_back(index);
  }
  std::reverse(way.edges.begin(), way.edges.end());
  return way;
}

std::optional<PrefixNumbers::Repetition> PrefixNumbers::repeated(const AcyclicPath& way) const {
  std::uint32_t node = way.start == kFromEntry ? kEntryNode : edges_[way.start].to;
  std::size_t before = 0;
  while (repeats_[node] == kFromEntry) {
    if (before == way.edges.size()) return std::nullopt;
    node = edges_[way.edges[before++]].to;
  }
  const std::uint32_t edge = repeats_[node];
  Repetition result{.first = {way.start, {}}, .middle = {edge, {}}, .last = {edge, {}}};
  std::vector<std::uint32_t>& round = result.middle.edges;
  for (std::uint32_t end = edges_[edge].from; end != node; end = edges_[round.back()].from) {
    const std::span<const std::uint32_t> in = in_edges(end);
    if (in.size() != 1 || edges_[in.front()].is_back) return std::nullopt;
    round.push_back(in.front());
  }
  std::reverse(round.begin(), round.end());
  const auto at = way.edges.begin() + static_cast<std::ptrdiff_t>(before);
  result.first.edges.assign(way.edges.begin(), at);
  result.first.edges.insert(result.first.edges.end(), round.begin(), round.end());
  result.last.edges.assign(at, way.edges.end());
  return result;
}

}  // namespace telltale
