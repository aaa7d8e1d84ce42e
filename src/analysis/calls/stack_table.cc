#include "analysis/calls/stack_table.h"

#include <algorithm>

namespace telltale {

StackTable::Id StackTable::push_other(Id caller, FunctionId function) {
  Id& id = inner_[uint64_t{static_cast<uint32_t>(caller)} << 32 | to_number(function)];
  if (id == Id::empty) {
    id = static_cast<Id>(nodes_.size());
    nodes_.push_back({.caller = caller, .function = function, .depth = node(caller).depth + 1});
  }
  remember(caller, {function, id});
  return id;
}

void StackTable::remember(Id caller, const Inner& inner) {
  Node& from = nodes_[static_cast<uint32_t>(caller)];
  if (from.recent == 0) widen(from);
  const auto place = [&]() -> Inner& {
    return recent_[from.recent + (to_number(inner.function) & from.recent_mask)];
  };
  // Two that take turns in one place get two. But room is at most four times what is in it.
  while (place().stack != Id::empty && from.recent_mask + 1 < kMostRecent) {
    uint32_t used = 1;
    for (uint32_t i = 0; i <= from.recent_mask; ++i)
      used += static_cast<uint32_t>(recent_[from.recent + i].stack != Id::empty);
    if (4 * used <= from.recent_mask + 1) break;
    widen(from);
  }
  place() = inner;
}

// Gives a node a place, or twice as many in which the old ones do not meet.
void StackTable::widen(Node& node) {
  const uint32_t old = node.recent;
  const uint32_t old_places = old == 0 ? 0 : node.recent_mask + 1;
  node.recent = static_cast<uint32_t>(recent_.size());
  node.recent_mask = old == 0 ? 0 : 2 * old_places - 1;
  recent_.resize(recent_.size() + node.recent_mask + 1);
  for (uint32_t i = 0; i < old_places; ++i) {
    const Inner inner = recent_[old + i];
    if (inner.stack != Id::empty)
      recent_[node.recent + (to_number(inner.function) & node.recent_mask)] = inner;
  }
}

StackTable::Id StackTable::intern(std::span<const FunctionId> outermost_first) {
  // Consecutive stacks have most of their outer calls in common.
  const size_t most = std::min(interned_.size(), outermost_first.size());
  size_t same = 0;
  while (same < most && interned_[same].function == outermost_first[same]) ++same;
  interned_.resize(same);
  Id id = same == 0 ? Id::empty : interned_.back().stack;
  for (const FunctionId function : outermost_first.subspan(same)) {
    id = push(id, function);
    interned_.push_back({function, id});
  }
  return id;
}

std::vector<FunctionId> StackTable::functions(Id stack) const {
  std::vector<FunctionId> all(depth(stack));
  for (size_t i = all.size(); i-- > 0; stack = caller(stack)) all[i] = innermost(stack);
  return all;
}

std::vector<StackTable::Id> StackTable::merge(const StackTable& other, std::span<const Id> bases) {
  std::vector<Id> here(other.nodes_.size());
  for (size_t i = 1; i < here.size(); ++i) {  // callers precede callees
    const Node& theirs = other.nodes_[i];
    const uint32_t base = to_number(base_function(0)) - to_number(theirs.function);
    const bool is_base = theirs.caller == Id::empty && base < bases.size();
    here[i] =
        is_base ? bases[base] : push(here[static_cast<uint32_t>(theirs.caller)], theirs.function);
  }
  return here;
}

}  // namespace telltale
