#include "model/path_numbers.h"

#include <algorithm>
#include <utility>

#include "base/add_saturated.h"

namespace telltale {
namespace {

// Bounds of the sums of increments on the ways from a node to a target.
struct SumBounds {
  std::uint64_t least = kSaturated;
  std::uint64_t most = 0;
  bool reaches = false;
};

}  // namespace

// Kahn's algorithm over the edges that are not back edges.
bool PathNumbers::sort_nodes(std::uint32_t node_count) {
  std::vector<std::uint32_t> open_predecessors(node_count, 0);
  for (const PathEdge& edge : edges_) {
    if (!edge.is_back) ++open_predecessors[edge.to];
  }
  for (std::uint32_t node = 0; node < node_count; ++node) {
    if (open_predecessors[node] == 0) order_.push_back(node);
  }
  for (std::size_t i = 0; i < order_.size(); ++i) {
    for (const std::uint32_t index : out_edges(order_[i])) {
      if (!edges_[index].is_back && --open_predecessors[edges_[index].to] == 0)
        order_.push_back(edges_[index].to);
    }
  }
  return order_.size() == node_count;
}

bool PathNumbers::count_paths() {
  std::vector<std::uint64_t> paths(order_.size(), 0);
  paths[kExitNode] = 1;
  for (std::size_t i = order_.size(); i-- > 0;) {
    const std::uint32_t node = order_[i];
    if (node == kExitNode) continue;
    std::uint64_t sum = 0;
    for (const std::uint32_t index : out_edges(node)) {
      weights_[index] = sum;
      sum = add_saturated(sum, edges_[index].is_back ? 1 : paths[edges_[index].to]);
    }
    paths[node] = sum;
  }
  // The numbers of a start follow those of the starts before it. They are printed as weights of
  // back edges, which must agree.
  begins_.push_back({0, kFromEntry});
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    if (edges_[i].is_back) begins_.push_back({edges_[i].weight, i});
    if (!edges_[i].is_back && edges_[i].to != kExitNode && paths[edges_[i].to] == 0) return false;
  }
  std::stable_sort(begins_.begin(), begins_.end(),
                   [](const Begin& a, const Begin& b) { return a.first_number < b.first_number; });
  for (const Begin& begin : begins_) {
    if (begin.first_number != path_count_) return false;
    path_count_ = add_saturated(path_count_, paths[first_node(begin.start)]);
  }
  return path_count_ > 0 && path_count_ <= kMostPaths;
}

std::optional<PathNumbers> PathNumbers::from_edges(std::uint32_t node_count,
                                                   std::span<const PathEdge> edges) {
  if (node_count < 2 || edges.size() >= kFromEntry) return std::nullopt;
  PathNumbers result;
  result.edges_.assign(edges.begin(), edges.end());
  result.first_out_.assign(std::size_t{node_count} + 1, 0);
  for (const PathEdge& edge : edges) {
    if (edge.from >= node_count || edge.to >= node_count || edge.from == kExitNode)
      return std::nullopt;
    ++result.first_out_[edge.from + 1];
  }
  for (std::size_t i = 1; i <= node_count; ++i) result.first_out_[i] += result.first_out_[i - 1];
  std::vector<std::uint32_t> next(result.first_out_.begin(), result.first_out_.end() - 1);
  result.by_source_.resize(edges.size());
  for (std::uint32_t i = 0; i < edges.size(); ++i) result.by_source_[next[edges[i].from]++] = i;
  result.weights_.assign(edges.size(), 0);
  if (!result.sort_nodes(node_count) || !result.count_paths()) return std::nullopt;
  return result;
}

std::optional<AcyclicPath> PathNumbers::path(std::uint64_t number) const {
  if (number >= path_count_) return std::nullopt;
  auto begin = std::upper_bound(
      begins_.begin(), begins_.end(), number,
      [](std::uint64_t wanted, const Begin& candidate) { return wanted < candidate.first_number; });
  --begin;
  AcyclicPath path{begin->start, {}};
  std::uint64_t rest = number - begin->first_number;
  for (std::uint32_t node = first_node(begin->start); node != kExitNode;) {
    // The last edge whose weight does not exceed the rest. Weights of a node's edges increase.
    const std::span<const std::uint32_t> out = out_edges(node);
    const auto after = std::upper_bound(
        out.begin(), out.end(), rest,
        [&](std::uint64_t wanted, std::uint32_t index) { return wanted < weights_[index]; });
    const std::uint32_t index = *(after - 1);
    rest -= weights_[index];
    path.edges.push_back(index);
    if (edges_[index].is_back) break;
    node = edges_[index].to;
  }
  return path;
}

std::uint64_t PathNumbers::number(const AcyclicPath& path) const {
  std::uint64_t sum = path.start == kFromEntry ? 0 : edges_[path.start].weight;
  for (const std::uint32_t index : path.edges) sum += weights_[index];
  return sum;
}

PathPrefixes PathNumbers::prefixes(PathStart start, std::uint32_t node, std::uint64_t sum,
                                   std::size_t limit, std::size_t steps) const {
  PathPrefixes result;
  std::vector<SumBounds> bounds(order_.size());
  if (node >= order_.size()) return result;
  bounds[node] = {0, 0, true};
  for (std::size_t i = order_.size(); i-- > 0;) {
    const std::uint32_t from = order_[i];
    if (from == node) continue;
    for (const std::uint32_t index : out_edges(from)) {
      const PathEdge& edge = edges_[index];
      if (edge.is_back || !bounds[edge.to].reaches) continue;
      SumBounds& mine = bounds[from];
      mine.reaches = true;
      mine.least = std::min(mine.least, add_saturated(edge.increment, bounds[edge.to].least));
      mine.most = std::max(mine.most, add_saturated(edge.increment, bounds[edge.to].most));
    }
  }
  // Depth first without recursion; `rest` is what the edges still to come add.
  struct Visit {
    std::uint32_t node;
    std::uint32_t next;
    std::uint64_t rest;
  };
  const std::uint64_t first = start == kFromEntry ? 0 : edges_[start].increment;
  if (sum < first) return result;
  std::vector<Visit> stack{{first_node(start), 0, sum - first}};
  AcyclicPath path{start, {}};
  const auto leave = [&] {
    stack.pop_back();
    if (!path.edges.empty()) path.edges.pop_back();
  };
  while (!stack.empty()) {
    Visit& here = stack.back();
    if (here.node == node) {
      if (here.rest == 0) result.found.push_back(path);
      if (result.found.size() >= limit) return result;
      leave();
      continue;
    }
    const std::span<const std::uint32_t> out = out_edges(here.node);
    if (here.next == out.size()) {
      leave();
      continue;
    }
    if (steps-- == 0) {
      result.is_complete = false;
      return result;
    }
    const std::uint32_t index = out[here.next++];
    const PathEdge& edge = edges_[index];
    if (edge.is_back || edge.increment > here.rest) continue;
    const std::uint64_t rest = here.rest - edge.increment;
    const SumBounds& onward = bounds[edge.to];
    if (!onward.reaches || rest < onward.least || rest > onward.most) continue;
    path.edges.push_back(index);
    stack.push_back({edge.to, 0, rest});
  }
  return result;
}

}  // namespace telltale
