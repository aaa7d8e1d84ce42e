#include "analysis/paths/frame_coverage.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace telltale {
namespace {

constexpr uint32_t kNoBlock = std::numeric_limits<uint32_t>::max();
// Bounds the work on large functions; blocks beyond it stay "maybe".
constexpr size_t kMostFrameVisits = size_t{1} << 26;

class Walks {
 public:
  explicit Walks(const PathGraph& graph)
      : after_(graph.blocks.size()), before_(graph.blocks.size()) {
    for (const PathEdge& edge : graph.numbers.edges()) {
      after_[edge.from].push_back(edge.to);
      before_[edge.to].push_back(edge.from);
    }
  }

  // Nodes that are reached from `from`, itself included, without `avoided`.
  [[nodiscard]] std::vector<bool> onward(uint32_t from, uint32_t avoided) const {
    return spread(after_, from, avoided);
  }
  [[nodiscard]] std::vector<bool> backward(uint32_t from) const {
    return spread(before_, from, kNoBlock);
  }

 private:
  using Edges = std::vector<std::vector<uint32_t>>;

  static std::vector<bool> spread(const Edges& edges, uint32_t from, uint32_t avoided) {
    std::vector<bool> reached(edges.size(), false);
    std::vector<uint32_t> pending;
    const auto add = [&](uint32_t node) {
      if (reached[node] || node == avoided) return;
      reached[node] = true;
      pending.push_back(node);
    };
    add(from);
    while (!pending.empty()) {
      const uint32_t node = pending.back();
      pending.pop_back();
      for (const uint32_t next : edges[node]) add(next);
    }
    return reached;
  }

  Edges after_;
  Edges before_;
};

std::vector<Ran> blocks_of_reading(const PathGraph& graph, const PathHistory& history,
                                   const PathHistory::Reading& reading) {
  std::vector<Ran> ran(graph.blocks.size(), Ran::no);
  const auto completed = std::span(history.completed).first(reading.completed);
  if (!history.complete) {
    const uint32_t oldest =
        completed.empty() ? reading.partial.front() : completed.front().blocks.front();
    const Walks walks(graph);
    const std::vector<bool> from_entry = walks.onward(kEntryNode, kNoBlock);
    const std::vector<bool> to_oldest = walks.backward(oldest);
    size_t visits = 0;
    for (uint32_t node = 0; node < ran.size(); ++node) {
      if (!from_entry[node] || !to_oldest[node]) continue;
      ran[node] = Ran::maybe;
      visits += graph.numbers.edges().size();
      if (visits < kMostFrameVisits && !walks.onward(kEntryNode, node)[oldest])
        ran[node] = Ran::yes;
    }
  }
  for (const PathHistory::Path& path : completed)
    for (const uint32_t block : path.blocks) ran[block] = Ran::yes;
  for (const uint32_t block : reading.partial) ran[block] = Ran::yes;
  return ran;
}

}  // namespace

std::vector<bool> blocks_from(const PathGraph& graph, uint32_t block) {
  return Walks(graph).onward(block, kNoBlock);
}

std::vector<Ran> blocks_of_frame(const PathGraph& graph, const PathHistory& history) {
  std::vector<Ran> unknown(graph.blocks.size(), Ran::maybe);
  if (history.readings.empty() || !history.contradiction.empty() || graph.calls_setjmp)
    return unknown;
  std::vector<Ran> all = blocks_of_reading(graph, history, history.readings.front());
  for (const PathHistory::Reading& reading : std::span(history.readings).subspan(1)) {
    const std::vector<Ran> one = blocks_of_reading(graph, history, reading);
    for (size_t node = 0; node < all.size(); ++node) {
      if (one[node] != all[node]) all[node] = Ran::maybe;
    }
  }
  return all;
}

}  // namespace telltale
