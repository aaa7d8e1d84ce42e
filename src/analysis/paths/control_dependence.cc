#include "analysis/paths/control_dependence.h"

#include <algorithm>
#include <span>
#include <utility>

#include "analysis/paths/dominators.h"

namespace telltale {
namespace {

// Loops without an exit that each get one edge out; further ones get an edge from every block.
constexpr size_t kMostEndlessLoops = 64;

// Blocks and a virtual exit, the last.
class PostDominators {
 public:
  explicit PostDominators(const BlockEdges& edges)
      : exit_(static_cast<uint32_t>(edges.size())), edges_(edges) {
    for (auto& [from, to] : exits()) edges_[from].push_back(to);
    edges_.emplace_back();
    above_ = immediate_dominators(reversed(edges_), edges_, exit_);
  }

  [[nodiscard]] uint32_t exit() const { return exit_; }
  [[nodiscard]] uint32_t above(uint32_t block) const { return above_[block]; }
  [[nodiscard]] const BlockEdges& edges() const { return edges_; }

 private:
  // Edges to the virtual exit, so that each block reaches it. Of a loop without an exit, the block
  // with which it begins has one, as that of a loop with a condition: then what is conditional in
  // the loop stays so.
  [[nodiscard]] std::vector<std::pair<uint32_t, uint32_t>> exits() const {
    std::vector<uint32_t> ends;
    for (uint32_t block = 0; block < exit_; ++block)
      if (edges_[block].empty()) ends.push_back(block);
    const BlockEdges back = reversed(edges_);
    const std::vector<bool> all(exit_, true);
    std::vector<bool> reaches = reach_blocks(back, all, ends);
    const std::vector<uint32_t> order = from_entry();
    for (size_t loops = 0; loops < kMostEndlessLoops; ++loops) {
      const auto endless = std::ranges::find_if(order, [&](uint32_t i) { return !reaches[i]; });
      if (endless == order.end()) break;
      const std::vector<bool> loop = innermost_loop(*endless, back);
      const uint32_t first = *std::ranges::find_if(order, [&](uint32_t i) { return loop[i]; });
      ends.push_back(first);
      const std::vector<bool> more = reach_blocks(back, all, std::span(&first, 1));
      for (uint32_t i = 0; i < exit_; ++i) reaches[i] = reaches[i] || more[i];
    }
    for (uint32_t block = 0; block < exit_; ++block)
      if (!reaches[block]) ends.push_back(block);
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (const uint32_t block : ends) edges.emplace_back(block, exit_);
    return edges;
  }

  // Blocks in the order in which a depth-first search meets them.
  [[nodiscard]] std::vector<uint32_t> from_entry() const {
    std::vector<uint32_t> order;
    std::vector<bool> seen(exit_, false);
    std::vector<uint32_t> open = {0};
    while (!open.empty()) {
      const uint32_t block = open.back();
      open.pop_back();
      if (seen[block]) continue;
      seen[block] = true;
      order.push_back(block);
      open.insert(open.end(), edges_[block].begin(), edges_[block].end());
    }
    return order;
  }

  // The blocks of a loop that control cannot leave any more, which `block` leads to.
  [[nodiscard]] std::vector<bool> innermost_loop(uint32_t block, const BlockEdges& back) const {
    const std::vector<bool> all(exit_, true);
    while (true) {
      const std::vector<bool> after = reach_blocks(edges_, all, std::span(&block, 1));
      const std::vector<bool> before = reach_blocks(back, all, std::span(&block, 1));
      uint32_t left = 0;
      while (left < exit_ && (!after[left] || before[left])) ++left;
      if (left == exit_) return after;
      block = left;
    }
  }

  uint32_t exit_;
  BlockEdges edges_;
  std::vector<uint32_t> above_;  // immediate post-dominators
};

}  // namespace

std::vector<std::vector<ControlEdge>> control_dependences(const BlockEdges& edges, size_t limit) {
  std::vector<std::vector<ControlEdge>> of(edges.size());
  if (edges.empty()) return of;
  const PostDominators post(edges);
  size_t count = 0;
  for (uint32_t from = 0; from < edges.size(); ++from) {
    const auto& successors = post.edges()[from];
    for (const uint32_t to : successors) {
      if (successors.size() == 1) break;
      for (uint32_t block = to; block != post.above(from) && block != post.exit();
           block = post.above(block)) {
        const ControlEdge edge{.from = from, .to = to};
        if (std::ranges::find(of[block], edge) != of[block].end()) continue;
        if (++count > limit) return {};
        of[block].push_back(edge);
      }
    }
  }
  return of;
}

}  // namespace telltale
