#include "analysis/calls/call_tree.h"

#include <algorithm>
#include <numeric>

#include "model/waiting.h"

namespace telltale {

size_t CallTreePartial::slot_of(uint32_t parent, FunctionId function) const {
  const uint64_t key = (uint64_t{parent} << 32) | to_number(function);
  const uint64_t mixed = (key ^ (key >> 29)) * 0x9E37'79B9'7F4A'7C15U;
  return static_cast<size_t>(mixed >> 32) & (index_.size() - 1);
}

void CallTreePartial::insert_into_index(uint32_t node) {
  size_t slot = slot_of(nodes_[node].parent, nodes_[node].function);
  while (index_[slot] != 0) slot = (slot + 1) & (index_.size() - 1);
  index_[slot] = node + 1;
}

void CallTreePartial::grow_index() {
  index_.assign(std::max<size_t>(64, index_.size() * 2), 0);
  for (uint32_t node = 0; node < nodes_.size(); ++node) insert_into_index(node);
}

uint32_t CallTreePartial::child(uint32_t parent, FunctionId function) {
  if (2 * nodes_.size() >= index_.size()) grow_index();
  for (size_t slot = slot_of(parent, function);; slot = (slot + 1) & (index_.size() - 1)) {
    const uint32_t entry = index_[slot];
    if (entry == 0) {
      nodes_.push_back({parent, function, 0, 0});
      index_[slot] = static_cast<uint32_t>(nodes_.size());
      return static_cast<uint32_t>(nodes_.size() - 1);
    }
    const Node& node = nodes_[entry - 1];
    if (node.parent == parent && node.function == function) return entry - 1;
  }
}

uint32_t CallTreePartial::root(size_t stream) {
  return child(kNoParent, FunctionId{options_.by_thread ? static_cast<uint32_t>(stream) : 0});
}

void CallTreePartial::merge(const CallTreePartial& other) { add(other); }

CallTreePartial CallTreePartial::without_threads() const {
  CallTreeOptions options = options_;
  options.by_thread = false;
  CallTreePartial together(options);
  together.add(*this);
  return together;
}

// A root of `other` is added to the root of the same stream, or to the only root.
void CallTreePartial::add(const CallTreePartial& other) {
  std::vector<uint32_t> here(other.nodes_.size());
  for (size_t i = 0; i < other.nodes_.size(); ++i) {  // parents precede their children
    const Node& node = other.nodes_[i];
    here[i] = node.parent == kNoParent ? root(to_number(node.function))
                                       : child(here[node.parent], node.function);
    nodes_[here[i]].calls += node.calls;
    nodes_[here[i]].total += node.total;
  }
  unwound_ += other.unwound_;
  unfinished_ += other.unfinished_;
  flattened_ += other.flattened_;
  orphan_exits_ += other.orphan_exits_;
  estimated_ += other.estimated_;
}

CallTreePartial::ByCaller CallTreePartial::sort_by_caller() const {
  ByCaller sorted;
  sorted.first.assign(nodes_.size() + 1, 0);
  for (const Node& node : nodes_) {
    if (node.parent != kNoParent) ++sorted.first[node.parent + 1];
  }
  std::partial_sum(sorted.first.begin(), sorted.first.end(), sorted.first.begin());
  // Of a tree of millions of nodes, only the callees of each node are sorted. Roots are the last.
  std::vector<uint32_t> end = sorted.first;
  sorted.order.resize(nodes_.size());
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    const uint32_t parent = nodes_[node].parent;
    sorted.order[end[parent == kNoParent ? nodes_.size() : parent]++] = node;
  }
  for (size_t parent = 0; parent <= nodes_.size(); ++parent) {
    std::ranges::sort(sorted.order.begin() + sorted.first[parent],
                      sorted.order.begin() + end[parent], {},
                      [this](uint32_t node) { return to_number(nodes_[node].function); });
  }
  return sorted;
}

void CallTreePartial::append_subtree(uint32_t root, const ByCaller& sorted, CallTree& tree) const {
  struct Open {
    uint32_t next;  // next callee, index into sorted.order
    uint32_t last;
    size_t placed;  // index in tree.nodes
  };
  std::vector<Open> path;
  const auto begin = [&](uint32_t node) {
    const size_t parent = path.empty() ? CallTree::kNoNode : path.back().placed;
    const auto depth = static_cast<uint32_t>(path.size());
    path.push_back({sorted.first[node], sorted.first[node + 1], tree.nodes.size()});
    const Node& from = nodes_[node];
    tree.nodes.push_back({from.function, depth, parent, 0, from.calls, from.total, from.total});
  };
  begin(root);
  while (!path.empty()) {
    Open& open = path.back();
    if (open.next < open.last) {
      begin(sorted.order[open.next++]);
      continue;
    }
    CallTree::Node& done = tree.nodes[open.placed];
    done.end = tree.nodes.size();
    tree.calls += comparable_calls(done.function, done.calls);
    if (done.depth > 1) tree.nodes[done.parent].self -= done.total;
    if (done.depth == 1) tree.nodes[done.parent].total += done.total;
    if (done.depth == 0) done.self = 0;
    path.pop_back();
  }
}

CallTree CallTreePartial::finish(std::span<const EventStream> streams) const {
  CallTree tree;
  tree.unwound = unwound_;
  tree.unfinished = unfinished_;
  tree.flattened = flattened_;
  tree.orphan_exits = orphan_exits_;
  tree.estimated = estimated_;
  tree.nodes.reserve(nodes_.size());
  const ByCaller sorted = sort_by_caller();
  for (size_t i = sorted.first.back(); i < sorted.order.size(); ++i) {  // roots sort last
    CallTree::Root root{.node = tree.nodes.size(), .thread = {}, .thread_name = {}};
    const uint32_t stream = to_number(nodes_[sorted.order[i]].function);
    if (options_.by_thread && stream < streams.size()) {
      root.thread = streams[stream].thread;
      root.thread_name = streams[stream].thread_name;
      root.process_name = streams[stream].process_name;
    }
    append_subtree(sorted.order[i], sorted, tree);
    if (tree.nodes[root.node].end > root.node + 1) {
      tree.roots.push_back(std::move(root));
    } else {
      tree.nodes.pop_back();  // a thread without calls
    }
  }
  return tree;
}

uint32_t CallTreeSink::node_before(size_t outside) {
  const size_t limit = partial_->options().max_depth;
  if (outside >= limit) return partial_->child(node_before(limit - 1), before_[outside].function);
  while (path_before_.size() <= outside) {
    const uint32_t parent = path_before_.empty() ? root_ : path_before_.back();
    path_before_.push_back(partial_->child(parent, before_[path_before_.size()].function));
  }
  return path_before_[outside];
}

void CallTreeSink::add_flattened(size_t outside, Ticks total) {
  partial_->add_flattened();
  if (outside > partial_->options().max_depth) partial_->subtract_time(node_at(outside - 1), total);
}

}  // namespace telltale
