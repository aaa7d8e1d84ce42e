#include "analysis/calls/flame_comparison.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/sort_rows.h"
#include "model/waiting.h"

namespace telltale {
namespace {

using Numbers = FlameTree::Numbers;

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The paths of both recordings; callers come before their callees, the root is the first.
class UnitedPaths {
 public:
  struct Node {
    uint32_t function = 0;
    uint32_t parent = 0;
    uint32_t depth = 0;
    Numbers before;
    Numbers after;
  };

  void add(const ComparedCalls& calls, Numbers Node::* which) {
    if (calls.tree.roots.empty()) return;
    const std::vector<CallTree::Node>& nodes = calls.tree.nodes;
    std::vector<uint32_t> place(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const CallTree::Node& node = nodes[i];
      if (node.depth != 0) {
        place[i] = child(place[node.parent], function(calls.names.describe(node.function)));
      }
      Numbers& numbers = nodes_[place[i]].*which;
      numbers.calls += node.calls;
      numbers.calls_inside += comparable_calls(node.function, node.calls);
      numbers.total += calls.clock.to_ns(node.total);
      numbers.self += calls.clock.to_ns(node.self);
    }
  }

  void sum_calls_inside() {
    for (size_t i = nodes_.size(); --i > 0;) {
      Node& parent = nodes_[nodes_[i].parent];
      parent.before.calls_inside += nodes_[i].before.calls_inside;
      parent.after.calls_inside += nodes_[i].after.calls_inside;
    }
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  std::vector<FunctionInfo> take_functions() { return std::move(functions_); }

  // The largest share of all that a node has in either recording, of what is measured or counted.
  [[nodiscard]] double share_of(size_t i) const {
    const Node& node = nodes_[i];
    const Node& all = nodes_[0];
    return std::max({share(node.before.total, all.before.total),
                     share(node.before.calls_inside, all.before.calls_inside),
                     share(node.after.total, all.after.total),
                     share(node.after.calls_inside, all.after.calls_inside)});
  }

 private:
  uint32_t function(const FunctionInfo& info) {
    const auto [found, is_new] =
        function_ids_.try_emplace(info.name, static_cast<uint32_t>(functions_.size()));
    if (is_new) {
      functions_.push_back(info);
    } else {
      functions_[found->second] = info;
    }
    return found->second;
  }

  uint32_t child(uint32_t parent, uint32_t function) {
    const auto [found, is_new] = children_.try_emplace(uint64_t{parent} << 32 | function,
                                                       static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({function, parent, nodes_[parent].depth + 1, {}, {}});
    return found->second;
  }

  std::vector<Node> nodes_ = {Node()};
  std::unordered_map<uint64_t, uint32_t> children_;  // caller and function -> node
  std::vector<FunctionInfo> functions_;
  std::map<std::string, uint32_t> function_ids_;
};

// A byte a node: 1 if it is to be drawn.
std::vector<char> choose(const UnitedPaths& paths, const FlameLimits& limits) {
  const size_t count = paths.nodes().size();
  const std::vector<UnitedPaths::Node>& nodes = paths.nodes();
  std::vector<std::pair<double, uint32_t>> wide;  // share, node
  std::vector<std::pair<double, uint32_t>> all;
  Ticks narrow_self = 0;
  Ticks self = 0;
  for (uint32_t i = 1; i < count; ++i) {
    all.emplace_back(paths.share_of(i), i);
    const Ticks of_both = nodes[i].before.self + nodes[i].after.self;
    self += of_both;
    if (all.back().first >= limits.min_share)
      wide.push_back(all.back());
    else
      narrow_self += of_both;
  }
  if (static_cast<double>(narrow_self) > limits.most_pruned * static_cast<double>(self))
    wide = std::move(all);
  const size_t room = std::max<size_t>(limits.max_nodes, 1) - 1;
  if (wide.size() > room) {
    // Equal shares stay in order, so that a caller comes before its callees.
    sort_rows(wide, std::greater(), &std::pair<double, uint32_t>::first);
    wide.resize(room);
  }
  std::vector<char> kept(count);
  kept[0] = 1;
  for (const auto& [of_all, node] : wide) kept[node] = 1;
  for (size_t i = 1; i < count; ++i) kept[i] &= kept[nodes[i].parent];
  return kept;
}

// Callees of each node, the widest last.
std::vector<std::vector<uint32_t>> callees(const UnitedPaths& paths,
                                           const std::vector<char>& kept) {
  const std::vector<UnitedPaths::Node>& nodes = paths.nodes();
  std::vector<std::vector<uint32_t>> lists(nodes.size());
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    if (kept[i] != 0) lists[nodes[i].parent].push_back(i);
  }
  for (std::vector<uint32_t>& list : lists) {
    std::ranges::sort(list, [&](uint32_t a, uint32_t b) {
      const auto key = [&](uint32_t i) {
        return std::pair(nodes[i].after.total, nodes[i].before.total);
      };
      return key(a) != key(b) ? key(a) < key(b) : a > b;
    });
  }
  return lists;
}

}  // namespace

FlameComparison compare_flame_trees(const ComparedCalls& before, const ComparedCalls& after,
                                    const FlameLimits& limits) {
  UnitedPaths paths;
  paths.add(before, &UnitedPaths::Node::before);
  paths.add(after, &UnitedPaths::Node::after);
  paths.sum_calls_inside();
  const std::vector<char> kept = choose(paths, limits);
  FlameTree tree;
  for (size_t i = 1; i < kept.size(); ++i) {
    if (kept[i] != 0) continue;
    ++tree.pruned_nodes;
    tree.pruned_self += paths.nodes()[i].after.self;
    tree.widest_pruned = std::max(tree.widest_pruned, paths.share_of(i));
  }
  const std::vector<std::vector<uint32_t>> below = callees(paths, kept);
  std::vector<uint32_t> to_place = {0};  // the next on top
  while (!to_place.empty()) {
    const uint32_t i = to_place.back();
    to_place.pop_back();
    const UnitedPaths::Node& node = paths.nodes()[i];
    const Numbers& after_node = node.after;
    tree.nodes.push_back({FunctionId{node.function}, node.depth, after_node.calls,
                          after_node.calls_inside, after_node.total, after_node.self});
    tree.before.push_back(node.before);
    to_place.insert(to_place.end(), below[i].begin(), below[i].end());
  }
  return {std::move(tree), ComparedNames(paths.take_functions())};
}

}  // namespace telltale
