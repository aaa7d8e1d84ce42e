#include "analysis/calls/flame_tree.h"

#include <algorithm>
#include <numeric>

#include "base/sort_rows.h"
#include "model/waiting.h"

namespace telltale {
namespace {

double share_of_root(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The nodes of a subtree that are wide enough, by index from its root.
class Selection {
 public:
  Selection(const CallTree& tree, size_t root, const FlameLimits& limits)
      : nodes_(tree.nodes.data() + root), calls_inside_(tree.nodes[root].end - root) {
    const size_t count = calls_inside_.size();
    for (size_t i = count; i-- > 0;) {
      calls_inside_[i] += comparable_calls(nodes_[i].function, nodes_[i].calls);
      if (i != 0) calls_inside_[nodes_[i].parent - root] += calls_inside_[i];
    }
    std::vector<size_t> wide;
    Ticks narrow_self = 0;
    for (size_t i = 0; i < count; ++i) {
      if (i == 0 || share_of(i) >= limits.min_share)
        wide.push_back(i);
      else
        narrow_self += nodes_[i].self;
    }
    if (share_of_root(narrow_self, nodes_[0].total) > limits.most_pruned) {
      wide.resize(count);
      std::iota(wide.begin(), wide.end(), size_t{0});
    }
    if (wide.size() > limits.max_nodes) {
      // A node follows its caller in this order, so that any prefix is connected.
      sort_rows(wide, [this](size_t a, size_t b) {
        return (a == 0 ? 2 : share_of(a)) > (b == 0 ? 2 : share_of(b));
      });
      wide.resize(std::max<size_t>(limits.max_nodes, 1));
    }
    kept_.resize(count);
    for (const size_t i : wide) kept_[i] = 1;
    // With flattened recursion a node may have less than its callees.
    for (size_t i = 1; i < count; ++i) kept_[i] &= kept_[nodes_[i].parent - root];
  }

  [[nodiscard]] bool keeps(size_t i) const { return kept_[i] != 0; }
  [[nodiscard]] size_t size() const { return kept_.size(); }
  [[nodiscard]] uint64_t calls_inside(size_t i) const { return calls_inside_[i]; }
  [[nodiscard]] double share_of(size_t i) const {
    return std::max(share_of_root(nodes_[i].total, nodes_[0].total),
                    share_of_root(calls_inside_[i], calls_inside_[0]));
  }

 private:
  const CallTree::Node* nodes_;
  std::vector<uint64_t> calls_inside_;
  std::vector<char> kept_;
};

}  // namespace

FlameTree make_flame_tree(const CallTree& tree, const CallTree::Root& root,
                          const FlameLimits& limits) {
  const Selection selection(tree, root.node, limits);
  FlameTree flame;
  for (size_t i = 0; i < selection.size(); ++i) {
    if (selection.keeps(i)) continue;
    ++flame.pruned_nodes;
    flame.pruned_self += tree.nodes[root.node + i].self;
    flame.widest_pruned = std::max(flame.widest_pruned, selection.share_of(i));
  }
  std::vector<size_t> to_place = {root.node};  // the next one on top
  while (!to_place.empty()) {
    const size_t index = to_place.back();
    to_place.pop_back();
    const CallTree::Node& node = tree.nodes[index];
    flame.nodes.push_back({node.function, node.depth, node.calls,
                           selection.calls_inside(index - root.node), node.total, node.self});
    const size_t first = to_place.size();
    for (size_t callee = index + 1; callee < node.end; callee = tree.nodes[callee].end) {
      if (selection.keeps(callee - root.node)) to_place.push_back(callee);
    }
    std::sort(to_place.begin() + static_cast<std::ptrdiff_t>(first), to_place.end(),
              [&](size_t a, size_t b) {
                const CallTree::Node& x = tree.nodes[a];
                const CallTree::Node& y = tree.nodes[b];
                return x.total != y.total ? x.total < y.total : x.function > y.function;
              });
  }
  return flame;
}

}  // namespace telltale
