#include "analysis/calls/call_graph.h"

#include <map>
#include <utility>

namespace telltale {
namespace {

// Numbers the functions of a tree by id.
std::map<FunctionId, size_t> number_functions(const CallTree& tree) {
  std::map<FunctionId, size_t> numbers;
  for (const CallTree::Node& node : tree.nodes) {
    if (node.depth > 0) numbers.emplace(node.function, 0);
  }
  size_t next = 0;
  for (auto& [function, number] : numbers) number = next++;
  return numbers;
}

}  // namespace

CallGraph make_call_graph(const CallTree& tree) {
  CallGraph graph;
  const std::map<FunctionId, size_t> numbers = number_functions(tree);
  graph.functions.resize(numbers.size());
  for (const auto& [function, number] : numbers) graph.functions[number].function = function;

  struct Sums {
    uint64_t calls = 0;
    Ticks total = 0;
    size_t open = 0;  // nodes of this edge on the path to the current node
  };
  struct Open {
    size_t node;
    size_t function;
    Sums* edge;  // null for outermost calls
  };
  std::map<std::pair<size_t, size_t>, Sums> edges;
  std::vector<size_t> open_functions(graph.functions.size());
  std::vector<Open> path;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallTree::Node& node = tree.nodes[i];
    while (!path.empty() && tree.nodes[path.back().node].end <= i) {
      --open_functions[path.back().function];
      if (path.back().edge != nullptr) --path.back().edge->open;
      path.pop_back();
    }
    if (node.depth == 0) {
      graph.total += node.total;
      continue;
    }
    const size_t number = numbers.at(node.function);
    CallGraph::Function& function = graph.functions[number];
    function.calls += node.calls;
    function.self += node.self;
    if (open_functions[number]++ == 0) function.total += node.total;
    Sums* edge = nullptr;
    if (node.depth > 1) {
      edge = &edges[{path.back().function, number}];
      edge->calls += node.calls;
      if (edge->open++ == 0) edge->total += node.total;
    }
    path.push_back({i, number, edge});
  }
  for (const auto& [ends, sums] : edges) {
    graph.edges.push_back({ends.first, ends.second, sums.calls, sums.total});
  }
  return graph;
}

PrunedGraph prune_call_graph(CallGraph& graph, double min_share) {
  uint64_t calls = 0;
  for (const CallGraph::Function& function : graph.functions) calls += function.calls;
  const auto enough = [&](const auto& part) {
    return static_cast<double>(part.total) >= min_share * static_cast<double>(graph.total) ||
           static_cast<double>(part.calls) >= min_share * static_cast<double>(calls);
  };
  constexpr size_t kGone = ~size_t{0};
  std::vector<size_t> place(graph.functions.size(), kGone);
  CallGraph kept;
  for (size_t i = 0; i < graph.functions.size(); ++i) {
    if (!enough(graph.functions[i])) continue;
    place[i] = kept.functions.size();
    kept.functions.push_back(graph.functions[i]);
  }
  for (CallGraph::Edge edge : graph.edges) {
    edge.caller = place[edge.caller];
    edge.callee = place[edge.callee];
    if (edge.caller != kGone && edge.callee != kGone && enough(edge)) kept.edges.push_back(edge);
  }
  const PrunedGraph pruned{graph.functions.size() - kept.functions.size(),
                           graph.edges.size() - kept.edges.size()};
  kept.total = graph.total;
  graph = std::move(kept);
  return pruned;
}

}  // namespace telltale
