#include "analysis/paths/frame_coverage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>

namespace telltale {
namespace {

constexpr uint32_t kNotOnWay = std::numeric_limits<uint32_t>::max();

class Walks {
 public:
  explicit Walks(const PathGraph& graph)
      : after_(graph.blocks.size()), before_(graph.blocks.size()) {
    for (const PathEdge& edge : graph.numbers.edges()) {
      after_[edge.from].push_back(edge.to);
      before_[edge.to].push_back(edge.from);
    }
  }

  [[nodiscard]] size_t size() const { return after_.size(); }
  // Nodes that are reached from `from`, itself included.
  [[nodiscard]] std::vector<bool> onward(uint32_t from) const { return spread(after_, from); }
  [[nodiscard]] std::vector<bool> backward(uint32_t from) const { return spread(before_, from); }

  // Nodes on every way from one node to another, both included; none if no way leads there. A node
  // of a shortest way is on every way unless nodes outside that way lead from before it to after
  // it. Each of those is visited once: what leads to it later leads no further.
  [[nodiscard]] std::vector<uint32_t> on_every_way(uint32_t from, uint32_t to) const {
    const std::vector<uint32_t> way = shortest_way(from, to);
    std::vector<uint32_t> place(after_.size(), kNotOnWay);
    for (uint32_t i = 0; i < way.size(); ++i) place[way[i]] = i;
    std::vector<uint32_t> found;
    std::vector<bool> seen(after_.size(), false);
    std::vector<uint32_t> pending;
    uint32_t furthest = 0;
    for (uint32_t i = 0; i < way.size(); ++i) {
      if (furthest == i) found.push_back(way[i]);
      pending.push_back(way[i]);
      while (!pending.empty()) {
        const uint32_t node = pending.back();
        pending.pop_back();
        for (const uint32_t next : after_[node]) {
          if (place[next] != kNotOnWay) {
            furthest = std::max(furthest, place[next]);
          } else if (!seen[next]) {
            seen[next] = true;
            pending.push_back(next);
          }
        }
      }
    }
    return found;
  }

 private:
  using Edges = std::vector<std::vector<uint32_t>>;

  static std::vector<bool> spread(const Edges& edges, uint32_t from) {
    std::vector<bool> reached(edges.size(), false);
    std::vector<uint32_t> pending;
    const auto add = [&](uint32_t node) {
      if (reached[node]) return;
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

  [[nodiscard]] std::vector<uint32_t> shortest_way(uint32_t from, uint32_t to) const {
    std::vector<uint32_t> came_from(after_.size(), kNotOnWay);
    came_from[from] = from;
    std::deque<uint32_t> pending{from};
    while (!pending.empty() && came_from[to] == kNotOnWay) {
      const uint32_t node = pending.front();
      pending.pop_front();
      for (const uint32_t next : after_[node]) {
        if (came_from[next] != kNotOnWay) continue;
        came_from[next] = node;
        pending.push_back(next);
      }
    }
    if (came_from[to] == kNotOnWay) return {};
    std::vector<uint32_t> way{to};
    while (way.back() != from) way.push_back(came_from[way.back()]);
    std::ranges::reverse(way);
    return way;
  }

  Edges after_;
  Edges before_;
};

std::vector<Ran> blocks_of_reading(const Walks& walks, const PathHistory& history,
                                   const PathHistory::Reading& reading) {
  std::vector<Ran> ran(walks.size(), Ran::no);
  const auto completed = std::span(history.completed).first(reading.completed);
  if (!history.complete) {
    const uint32_t oldest =
        completed.empty() ? reading.partial.front() : completed.front().blocks.front();
    const std::vector<bool> from_entry = walks.onward(kEntryNode);
    const std::vector<bool> to_oldest = walks.backward(oldest);
    for (uint32_t node = 0; node < ran.size(); ++node) {
      if (from_entry[node] && to_oldest[node]) ran[node] = Ran::maybe;
    }
    for (const uint32_t node : walks.on_every_way(kEntryNode, oldest)) ran[node] = Ran::yes;
  }
  for (const PathHistory::Path& path : completed)
    for (const uint32_t block : path.blocks) ran[block] = Ran::yes;
  for (const uint32_t block : reading.partial) ran[block] = Ran::yes;
  return ran;
}

}  // namespace

std::vector<bool> blocks_from(const PathGraph& graph, uint32_t block) {
  return Walks(graph).onward(block);
}

std::vector<Ran> blocks_of_frame(const PathGraph& graph, const PathHistory& history) {
  std::vector<Ran> unknown(graph.blocks.size(), Ran::maybe);
  if (history.readings.empty() || !history.contradiction.empty() || graph.calls_setjmp)
    return unknown;
  const Walks walks(graph);
  std::vector<Ran> all = blocks_of_reading(walks, history, history.readings.front());
  for (const PathHistory::Reading& reading : std::span(history.readings).subspan(1)) {
    const std::vector<Ran> one = blocks_of_reading(walks, history, reading);
    for (size_t node = 0; node < all.size(); ++node) {
      if (one[node] != all[node]) all[node] = Ran::maybe;
    }
  }
  return all;
}

}  // namespace telltale
