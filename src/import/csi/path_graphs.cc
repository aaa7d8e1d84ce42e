#include "import/csi/path_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "formats/csi/path_metadata.h"
#include "model/path_numbers.h"
#include "model/short_name.h"
#include "program/demangle.h"

namespace telltale {
namespace {

PathGraph::Block read_block(const csi::PathMetadata& metadata, const csi::PathBlock& from) {
  PathGraph::Block block;
  block.id = from.id;
  for (const int64_t token : metadata.tokens(from)) {
    if (token == csi::kPathStore) block.stores_path = true;
    if (token <= 0 || token > std::numeric_limits<uint32_t>::max()) continue;
    const auto line = static_cast<uint32_t>(token);
    if (block.lines.empty() || block.lines.back() != line) block.lines.push_back(line);
  }
  return block;
}

// The entry and the exit become the nodes that PathNumbers wants them to be.
std::optional<PathGraph> read_graph(const csi::PathMetadata& metadata,
                                    const csi::PathFunction& function) {
  const auto blocks = metadata.blocks(function);
  std::vector<uint32_t> node_of(blocks.size());
  std::vector<PathGraph::Block> nodes(2);
  for (size_t i = 0; i < blocks.size(); ++i) {
    PathGraph::Block block = read_block(metadata, blocks[i]);
    switch (blocks[i].kind) {
      case csi::BlockKind::entry:
        node_of[i] = kEntryNode;
        nodes[kEntryNode] = std::move(block);
        break;
      case csi::BlockKind::exit:
        node_of[i] = kExitNode;
        nodes[kExitNode] = std::move(block);
        break;
      case csi::BlockKind::plain:
        node_of[i] = static_cast<uint32_t>(nodes.size());
        nodes.push_back(std::move(block));
    }
  }
  std::vector<PathEdge> edges;
  for (const csi::PathEdge& edge : metadata.edges(function))
    edges.push_back({node_of[edge.from], node_of[edge.to], edge.back, edge.increment, edge.weight});
  auto numbers = PathNumbers::from_edges(static_cast<uint32_t>(nodes.size()), edges);
  if (!numbers) return std::nullopt;
  return PathGraph{.blocks = std::move(nodes), .numbers = *std::move(numbers)};
}

// Leaves `prefixes` empty if the edges do not number paths.
void number_prefixes(const csi::PathFunctionRecord& record, PathGraph& graph) {
  const auto node_count = static_cast<uint32_t>(graph.blocks.size());
  if (!record.repeats.empty()) {
    const std::set<std::pair<uint64_t, uint64_t>> repeats(record.repeats.begin(),
                                                          record.repeats.end());
    std::vector<PathEdge> edges(graph.numbers.edges().begin(), graph.numbers.edges().end());
    for (PathEdge& edge : edges)
      edge.repeats = repeats.contains({graph.blocks[edge.from].id, graph.blocks[edge.to].id});
    auto numbers = PathNumbers::from_edges(node_count, edges);
    if (!numbers) return;
    graph.numbers = *std::move(numbers);
  }
  graph.prefixes = PrefixNumbers::from_edges(node_count, graph.numbers.edges());
}

void add_record(const csi::PathFunctionRecord& record, PathGraph& graph) {
  graph.calls_setjmp = record.calls_setjmp;
  graph.sets_late = record.sets_late;
  graph.ring_size = record.ring_size;
  if (record.numbers_prefixes) number_prefixes(record, graph);
  std::unordered_map<uint32_t, uint32_t> scope_of;  // number to index
  for (const csi::PathScope& scope : record.scopes) {
    if (scope_of.emplace(scope.number, static_cast<uint32_t>(graph.scopes.size())).second)
      graph.scopes.push_back({.file = scope.file, .function = scope.function});
  }
  std::unordered_map<uint64_t, PathGraph::Block*> block_of;
  for (PathGraph::Block& block : graph.blocks) block_of.emplace(block.id, &block);
  for (const auto& [id, scope, line, calls] : record.lines) {
    const auto block = block_of.find(id);
    const auto index = scope_of.find(scope);
    if (block != block_of.end() && index != scope_of.end() && line != 0)
      block->second->places.push_back({.scope = index->second, .line = line});
  }
}

bool same_graph(const PathGraph& a, const PathGraph& b) {
  const auto same_block = [](const PathGraph::Block& x, const PathGraph::Block& y) {
    return x.id == y.id && x.lines == y.lines && x.places == y.places &&
           x.stores_path == y.stores_path;
  };
  const auto same_edge = [](const PathEdge& x, const PathEdge& y) {
    return x.from == y.from && x.to == y.to && x.is_back == y.is_back && x.repeats == y.repeats &&
           x.increment == y.increment && x.weight == y.weight;
  };
  return a.sets_late == b.sets_late && a.ring_size == b.ring_size &&
         a.prefixes.has_value() == b.prefixes.has_value() && a.scopes == b.scopes &&
         std::ranges::equal(a.blocks, b.blocks, same_block) &&
         std::ranges::equal(a.numbers.edges(), b.numbers.edges(), same_edge);
}

}  // namespace

PathGraphs::ByKey PathGraphs::add(Bytes text, const std::string& file, uint64_t file_offset,
                                  const std::vector<csi::PathFunctionRecord>& records,
                                  ProblemLog& problems) {
  std::unordered_map<uint64_t, std::vector<const csi::PathFunctionRecord*>> by_offset;
  for (const csi::PathFunctionRecord& record : records) by_offset[record.offset].push_back(&record);
  ByKey by_key;
  const csi::PathMetadata metadata = csi::PathMetadata::read(text, file, file_offset, problems);
  for (const csi::PathFunction& function : metadata.functions()) {
    std::optional<PathGraph> graph = read_graph(metadata, function);
    if (!graph) {
      problems.add({Problem::Kind::corruption, function.offset, file, "function",
                    fmt::format("the edges of {} have no path numbers", function.name), 0});
      continue;
    }
    graph->symbol = function.name;
    const auto& of_function = by_offset[function.offset - file_offset];
    if (!of_function.empty()) {
      add_record(*of_function.front(), *graph);
      if (of_function.front()->numbers_prefixes && !graph->prefixes) {
        problems.add({Problem::Kind::corruption, function.offset, file, "function",
                      fmt::format("the increments of {} number no paths", function.name), 0});
        continue;
      }
    }
    auto& same_name = graphs_[graph->symbol];
    auto known = std::ranges::find_if(
        same_name, [&](const Graph& other) { return same_graph(*other, *graph); });
    if (known == same_name.end()) {
      same_name.push_back(std::make_shared<const PathGraph>(*std::move(graph)));
      known = same_name.end() - 1;
    }
    for (const csi::PathFunctionRecord* record : of_function) by_key.emplace(record->key, *known);
  }
  return by_key;
}

const std::vector<PathGraphs::Graph>& PathGraphs::find(const std::string& symbol) const {
  static const std::vector<Graph> kNone;
  const auto found = graphs_.find(symbol);
  return found == graphs_.end() ? kNone : found->second;
}

void PathGraphs::join_copies(const std::unordered_map<std::string, std::string>& sources) {
  for (const auto& [symbol, source] : sources) {
    const auto copy = graphs_.find(symbol);
    if (copy == graphs_.end() || symbol == source) continue;
    const std::vector<Graph> moved = std::move(copy->second);
    graphs_.erase(copy);
    std::vector<Graph>& joined = graphs_[source];
    joined.insert(joined.end(), moved.begin(), moved.end());
  }
}

std::unordered_map<std::string, std::vector<std::string>> PathGraphs::symbols_by_name() const {
  std::unordered_map<std::string, std::vector<std::string>> symbols;
  for (const auto& [symbol, graphs] : graphs_)
    symbols[bare_name(demangle(symbol))].push_back(symbol);
  return symbols;
}

}  // namespace telltale
