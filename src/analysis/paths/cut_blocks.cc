#include "analysis/paths/cut_blocks.h"

#include <algorithm>
#include <limits>

namespace telltale {
namespace {

constexpr uint32_t kOffTheWay = std::numeric_limits<uint32_t>::max();

// A shortest way from block 0 to a target; empty if there is none.
std::vector<uint32_t> way_to(const BlockEdges& edges, const std::vector<bool>& possible,
                             const std::vector<bool>& is_target) {
  std::vector<uint32_t> before(edges.size(), kOffTheWay);
  std::vector<uint32_t> queue;
  if (edges.empty() || !possible[0]) return {};
  before[0] = 0;
  queue.push_back(0);
  for (size_t i = 0; i < queue.size(); ++i) {
    const uint32_t block = queue[i];
    if (is_target[block]) {
      std::vector<uint32_t> way = {block};
      while (way.back() != 0) way.push_back(before[way.back()]);
      std::ranges::reverse(way);
      return way;
    }
    for (const uint32_t next : edges[block]) {
      if (!possible[next] || before[next] != kOffTheWay) continue;
      before[next] = block;
      queue.push_back(next);
    }
  }
  return {};
}

// Finds how far along the way one gets past a given block of it.
class Bypasses {
 public:
  Bypasses(const BlockEdges& edges, const std::vector<bool>& possible,
           const std::vector<bool>& is_target, const std::vector<uint32_t>& way)
      : edges_(edges),
        possible_(possible),
        is_target_(is_target),
        end_(way.size()),
        index_(edges.size(), kOffTheWay),
        seen_(edges.size(), false) {
    for (size_t i = 0; i < way.size(); ++i) index_[way[i]] = static_cast<uint32_t>(i);
  }

  // The largest index on the way that can be reached from `block` without the way's other blocks;
  // the way's length if a target can be reached.
  size_t furthest_from(uint32_t block) {
    size_t furthest = 0;
    std::vector<uint32_t> pending = {block};
    while (!pending.empty()) {
      const uint32_t at = pending.back();
      pending.pop_back();
      if (is_target_[at]) furthest = end_;
      for (const uint32_t next : edges_[at]) {
        if (!possible_[next]) continue;
        if (index_[next] != kOffTheWay) {
          furthest = std::max(furthest, size_t{index_[next]});
        } else if (!seen_[next]) {
          seen_[next] = true;
          pending.push_back(next);
        }
      }
    }
    return furthest;
  }

 private:
  const BlockEdges& edges_;
  const std::vector<bool>& possible_;
  const std::vector<bool>& is_target_;
  size_t end_;
  std::vector<uint32_t> index_;  // on the way
  std::vector<bool> seen_;
};

}  // namespace

std::vector<uint32_t> cut_blocks(const BlockEdges& edges, const std::vector<bool>& possible,
                                 std::span<const uint32_t> targets) {
  std::vector<bool> is_target(edges.size(), false);
  for (const uint32_t target : targets) is_target[target] = true;
  const std::vector<uint32_t> way = way_to(edges, possible, is_target);
  Bypasses bypasses(edges, possible, is_target, way);
  std::vector<uint32_t> cuts;
  size_t furthest = 0;  // what is reached beside the way from its blocks so far
  for (size_t i = 0; i < way.size(); ++i) {
    if (furthest <= i) cuts.push_back(way[i]);
    furthest = std::max(furthest, bypasses.furthest_from(way[i]));
  }
  return cuts;
}

std::vector<bool> reach_blocks(const BlockEdges& edges, const std::vector<bool>& possible,
                               std::span<const uint32_t> from) {
  std::vector<bool> reached(edges.size(), false);
  std::vector<uint32_t> pending;
  const auto add = [&](uint32_t block) {
    if (reached[block] || !possible[block]) return;
    reached[block] = true;
    pending.push_back(block);
  };
  for (const uint32_t block : from) add(block);
  while (!pending.empty()) {
    const uint32_t block = pending.back();
    pending.pop_back();
    for (const uint32_t next : edges[block]) add(next);
  }
  return reached;
}

BlockEdges reversed(const BlockEdges& edges) {
  BlockEdges back(edges.size());
  for (uint32_t from = 0; from < edges.size(); ++from) {
    for (const uint32_t to : edges[from]) back[to].push_back(from);
  }
  return back;
}

}  // namespace telltale
