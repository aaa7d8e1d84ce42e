#include "analysis/runtime/weighted_tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/runtime/native_samples.h"
#include "base/sort_rows.h"

namespace telltale {
namespace {

// Maps owners to names, and decides whether they have a frame at all.
class OwnerNames {
 public:
  OwnerNames(const WeightedStacks& stacks, StackMetric metric) : stacks_(stacks), metric_(metric) {
    if (metric != StackMetric::samples) return;
    code_ = stacks.code.methods();
    sort_rows(code_, {}, &CompiledCode::Method::address);
  }

  [[nodiscard]] std::optional<std::string> name(uint64_t owner) const {
    switch (metric_) {
      case StackMetric::allocations:
        return stacks_.types.name_or_address(owner);
      case StackMetric::throws:
        if (owner == 0) return std::nullopt;
        return stacks_.types.name_or_address(owner);
      case StackMetric::samples:
        return owner == 0 || is_managed(owner) ? std::nullopt : std::optional(symbol_name(owner));
      case StackMetric::waits:
        break;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is_managed(uint64_t address) const {
    auto after = std::ranges::upper_bound(code_, address, {}, &CompiledCode::Method::address);
    return after != code_.begin() && std::prev(after)->holds(address);
  }
  [[nodiscard]] std::string symbol_name(uint64_t address) const {
    const auto after = stacks_.symbols.upper_bound(address);
    if (after == stacks_.symbols.begin() || address - std::prev(after)->first >= kSymbolReach)
      return "[native code]";
    return std::prev(after)->second.name;
  }

  const WeightedStacks& stacks_;
  StackMetric metric_;
  std::vector<CompiledCode::Method> code_;  // by address
};

// One frame for each name, in order of the names: ids must not depend on the order of discovery.
std::map<std::string, FunctionId> number_owners(const WeightedStacks& stacks,
                                                const OwnerNames& owners, FrameNames& names) {
  std::map<std::string, FunctionId> frames;
  for (const auto& [stream, sums] : stacks.by_stream)
    for (const auto& [owner, by_stack] : sums.by_owner())
      if (auto name = owners.name(owner)) frames.try_emplace(*std::move(name));
  frames.try_emplace("[no stack]");
  for (auto& [name, id] : frames) id = names.add(name);
  return frames;
}

}  // namespace

FunctionId FrameNames::add(const std::string& name) {
  const auto [place, fresh] = by_name_.try_emplace(name);
  if (fresh) {
    frames_.emplace_back().name = name;
    place->second = FunctionId{static_cast<uint32_t>(kFirst + frames_.size() - 1)};
  }
  return place->second;
}

std::vector<LiveType> last_live_types(WeightedStacks& stacks, std::span<const EventStream> streams,
                                      FrameNames& names) {
  std::vector<HeapShots::Shot> shots = stacks.shots.take_shots().whole;
  std::erase_if(
      shots, [&stacks](const HeapShots::Shot& shot) { return !stacks.window.holds(shot.begin); });
  const std::map<size_t, Ticks> ends = stacks.end.by_process(streams);
  std::map<size_t, const HeapShots::Shot*> last;  // by process
  for (const HeapShots::Shot& shot : shots) {
    const HeapShots::Shot*& best = last[shot.process];
    const auto at_exit = [&](const HeapShots::Shot& one) {
      return is_at_exit(one.begin, one.stream, ends, streams);
    };
    if (best == nullptr || at_exit(*best) || !at_exit(shot)) best = &shot;
  }
  const OwnerNames owners(stacks, StackMetric::allocations);
  std::map<std::string, LiveType> by_name;
  for (const auto& [process, shot] : last) {
    for (const auto& [type, sum] : shot->by_type) {
      LiveType& live = by_name[*owners.name(type)];
      live.objects += sum.objects;
      live.bytes += sum.bytes;
    }
  }
  std::vector<LiveType> all;
  for (auto& [name, live] : by_name) {
    live.frame = names.add(name);
    all.push_back(live);
  }
  return all;
}

CallTreePartial weighted_tree(const WeightedStacks& stacks, StackMetric metric, WeightOf weight,
                              const CallTreeOptions& options, FrameNames& names) {
  CallTreeOptions by_thread = options;
  by_thread.by_thread = true;
  CallTreePartial tree(by_thread);
  const OwnerNames owners(stacks, metric);
  const std::map<std::string, FunctionId> frames = number_owners(stacks, owners, names);
  const FunctionId no_stack = frames.at("[no stack]");
  for (const auto& [stream, sums] : stacks.by_stream) {
    const uint32_t root = tree.root(stream);
    for (const auto& [owner, by_stack] : sums.by_owner()) {
      const std::optional<std::string> name = owners.name(owner);
      for (const auto& [stack, sum] : by_stack) {
        std::vector<FunctionId> path = stacks.stacks.functions(static_cast<StackTable::Id>(stack));
        if (name) path.push_back(frames.at(*name));
        if (path.empty()) path.push_back(no_stack);
        if (path.size() > tree.options().max_depth) {
          path[tree.options().max_depth - 1] = path.back();
          path.resize(tree.options().max_depth);
          tree.add_flattened(sum.count);
        }
        const uint64_t value = weight == WeightOf::count ? sum.count : sum.value;
        uint32_t node = root;
        for (size_t i = 0; i < path.size(); ++i) {
          node = tree.child(node, path[i]);
          tree.add_weight(node, i + 1 == path.size() ? sum.count : 0, value);
        }
      }
    }
  }
  return tree;
}

}  // namespace telltale
