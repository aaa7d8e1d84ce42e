#include "import/csi/path_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "formats/csi/path_metadata.h"

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

bool same_graph(const PathGraph& a, const PathGraph& b) {
  return std::ranges::equal(a.blocks, b.blocks,
                            [](const PathGraph::Block& x, const PathGraph::Block& y) {
                              return x.lines == y.lines && x.stores_path == y.stores_path;
                            }) &&
         std::ranges::equal(a.numbers.edges(), b.numbers.edges(),
                            [](const PathEdge& x, const PathEdge& y) {
                              return x.from == y.from && x.to == y.to && x.is_back == y.is_back &&
                                     x.increment == y.increment && x.weight == y.weight;
                            });
}

}  // namespace

void PathGraphs::add(Bytes text, const std::string& file, uint64_t file_offset,
                     ProblemLog& problems) {
  const csi::PathMetadata metadata = csi::PathMetadata::read(text, file, file_offset, problems);
  for (const csi::PathFunction& function : metadata.functions()) {
    std::optional<PathGraph> graph = read_graph(metadata, function);
    if (!graph) {
      problems.add({Problem::Kind::corruption, function.offset, file, "function",
                    fmt::format("the edges of {} have no path numbers", function.name), 0});
      continue;
    }
    auto& same_name = graphs_[std::string(function.name)];
    const bool known = std::ranges::any_of(
        same_name, [&](const auto& other) { return same_graph(*other, *graph); });
    if (!known) same_name.push_back(std::make_shared<const PathGraph>(*std::move(graph)));
  }
}

const std::vector<std::shared_ptr<const PathGraph>>& PathGraphs::find(
    const std::string& linkage_name) const {
  static const std::vector<std::shared_ptr<const PathGraph>> kNone;
  const auto found = graphs_.find(linkage_name);
  return found == graphs_.end() ? kNone : found->second;
}

}  // namespace telltale
