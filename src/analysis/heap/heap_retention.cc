#include "analysis/heap/heap_retention.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/sort_rows.h"

namespace telltale {
namespace {

constexpr uint32_t kNowhere = ~uint32_t{0};

// Frames by type, in order of the types' names.
class TypeFrames {
 public:
  TypeFrames(const HeapGraph& graph, FrameNames& names) {
    AddressMap<bool> seen;
    for (const HeapGraph::Object& object : graph.objects) seen[object.type] = true;
    std::map<std::string, std::vector<uint64_t>> by_name;
    for (const auto& [type, unused] : seen)
      by_name[graph.types.name_or_address(type)].push_back(type);
    for (const auto& [name, types] : by_name) {
      const FunctionId frame = names.add(name);
      for (const uint64_t type : types) frames_[type] = frame;
    }
  }
  [[nodiscard]] FunctionId operator[](uint64_t type) const { return *frames_.find(type); }

 private:
  AddressMap<FunctionId> frames_;
};

// Breadth first, so that the first chain to reach an object is a shortest one.
class Search {
 public:
  Search(const HeapGraph& graph, size_t max_depth, FrameNames& names, HeapRetention& result)
      : graph_(graph), max_depth_(max_depth), frames_(graph, names), result_(result) {
    chain_.assign(graph.objects.size(), kNowhere);
    length_.assign(graph.objects.size(), 0);
    std::set<std::string> roots;
    for (const HeapGraph::Root& root : graph.roots) roots.insert("[" + root.name + "]");
    for (const std::string& root : roots) root_frames_.emplace(root, names.add(root));
    unreached_ = names.add("[no root found]");
  }

  void run() {
    for (const HeapGraph::Root& root : graph_.roots) {
      if (root.weak) continue;
      reach(root.object,
            result_.chains.push(StackTable::Id::empty, root_frames_.at("[" + root.name + "]")), 0);
    }
    for (size_t next = 0; next < queue_.size(); ++next) {
      const uint32_t object = queue_[next];
      const auto [first, end] = graph_.references_of(object);
      for (size_t i = first; i < end; ++i)
        reach(graph_.references[i].to, static_cast<StackTable::Id>(chain_[object]),
              length_[object] + 1);
    }
    result_.sums.resize(result_.chains.size());
    std::map<FunctionId, HeapRetention::Type> types;
    for (size_t i = 0; i < graph_.objects.size(); ++i) add(i, types);
    choose_chains(types);
  }

 private:
  void reach(uint32_t object, StackTable::Id from, uint32_t length) {
    if (chain_[object] != kNowhere) return;
    const FunctionId type = frames_[graph_.objects[object].type];
    StackTable::Id chain = from;
    // A truncated chain ends with the type, too.
    if (result_.chains.innermost(from) != type) {
      if (result_.chains.depth(from) >= max_depth_) {
        chain = result_.chains.caller(from);
        ++result_.cut;
      }
      chain = result_.chains.push(chain, type);
    }
    chain_[object] = static_cast<uint32_t>(chain);
    length_[object] = length;
    queue_.push_back(object);
  }

  void add(size_t index, std::map<FunctionId, HeapRetention::Type>& types) {
    const HeapGraph::Object& object = graph_.objects[index];
    const FunctionId frame = frames_[object.type];
    HeapRetention::Type& type = types[frame];
    type.frame = frame;
    const auto count = [&](HeapRetention::Sum& sum) {
      ++sum.objects;
      sum.bytes += object.bytes;
    };
    count(type.all);
    if (chain_[index] == kNowhere) {
      count(type.unreached);
      count(result_.unreached);
      count(result_.sums[unreached_chain(frame)]);
      return;
    }
    count(result_.sums[chain_[index]]);
    shortest_.resize(result_.sums.size(), kNowhere);
    shortest_[chain_[index]] = std::min(shortest_[chain_[index]], length_[index]);
  }
  uint32_t unreached_chain(FunctionId frame) {
    const StackTable::Id root = result_.chains.push(StackTable::Id::empty, unreached_);
    const auto chain = static_cast<uint32_t>(result_.chains.push(root, frame));
    if (result_.sums.size() < result_.chains.size()) result_.sums.resize(result_.chains.size());
    return chain;
  }

  void choose_chains(std::map<FunctionId, HeapRetention::Type>& types) {
    shortest_.resize(result_.sums.size(), kNowhere);
    std::map<FunctionId, uint32_t> best;
    for (uint32_t chain = 1; chain < result_.sums.size(); ++chain) {
      const HeapRetention::Sum& sum = result_.sums[chain];
      if (sum.objects == 0 || shortest_[chain] == kNowhere) continue;
      const FunctionId frame = result_.chains.innermost(static_cast<StackTable::Id>(chain));
      const auto [place, fresh] = best.try_emplace(frame, chain);
      if (fresh) continue;
      const HeapRetention::Sum& other = result_.sums[place->second];
      if (sum.bytes > other.bytes ||
          (sum.bytes == other.bytes && shortest_[chain] < shortest_[place->second]))
        place->second = chain;
    }
    for (auto& [frame, type] : types) {
      if (const auto found = best.find(frame); found != best.end()) {
        type.by_chain = result_.sums[found->second];
        type.chain = result_.chains.functions(static_cast<StackTable::Id>(found->second));
        type.length = shortest_[found->second];
      }
      result_.types.push_back(std::move(type));
    }
    sort_rows(result_.types, std::greater(),
              [](const HeapRetention::Type& type) { return type.all.bytes; });
  }

  const HeapGraph& graph_;
  size_t max_depth_;
  TypeFrames frames_;
  HeapRetention& result_;
  std::map<std::string, FunctionId> root_frames_;
  FunctionId unreached_{};
  std::vector<uint32_t> chain_;     // by object
  std::vector<uint32_t> length_;    // by object: references from its root
  std::vector<uint32_t> shortest_;  // by chain
  std::vector<uint32_t> queue_;
};

}  // namespace

HeapRetention explain_heap(const HeapGraph& graph, size_t max_depth, FrameNames& names) {
  HeapRetention result;
  Search(graph, std::max<size_t>(max_depth, 2), names, result).run();
  return result;
}

CallTreePartial retention_tree(const HeapRetention& retention, WeightOf weight, size_t max_depth) {
  CallTreePartial tree({.by_thread = false, .max_depth = max_depth});
  std::vector<uint64_t> inclusive(retention.sums.size());
  for (size_t chain = retention.sums.size(); chain-- > 1;) {
    const HeapRetention::Sum& sum = retention.sums[chain];
    inclusive[chain] += weight == WeightOf::count ? sum.objects : sum.bytes;
    // Callers precede callees.
    inclusive[static_cast<size_t>(retention.chains.caller(static_cast<StackTable::Id>(chain)))] +=
        inclusive[chain];
  }
  std::vector<uint32_t> nodes(retention.sums.size());
  if (nodes.empty()) return tree;
  nodes[0] = tree.root(0);
  for (size_t chain = 1; chain < nodes.size(); ++chain) {
    const auto id = static_cast<StackTable::Id>(chain);
    nodes[chain] = tree.child(nodes[static_cast<size_t>(retention.chains.caller(id))],
                              retention.chains.innermost(id));
    tree.add_weight(nodes[chain], retention.sums[chain].objects, inclusive[chain]);
  }
  tree.add_flattened(retention.cut);
  return tree;
}

}  // namespace telltale
