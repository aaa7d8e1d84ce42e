#include "analysis/stack_table.h"

namespace telltale {

StackTable::Id StackTable::push(Id caller, FunctionId function) {
  Id& id = inner_[uint64_t{static_cast<uint32_t>(caller)} << 32 | to_number(function)];
  if (id == Id::empty) {
    id = static_cast<Id>(nodes_.size());
    nodes_.push_back({caller, function, node(caller).depth + 1});
  }
  return id;
}

StackTable::Id StackTable::intern(std::span<const FunctionId> outermost_first) {
  Id id = Id::empty;
  for (const FunctionId function : outermost_first) id = push(id, function);
  return id;
}

std::vector<FunctionId> StackTable::functions(Id stack) const {
  std::vector<FunctionId> all(depth(stack));
  for (size_t i = all.size(); i-- > 0; stack = caller(stack)) all[i] = innermost(stack);
  return all;
}

std::vector<StackTable::Id> StackTable::merge(const StackTable& other) {
  std::vector<Id> here(other.nodes_.size());
  for (size_t i = 1; i < here.size(); ++i) {  // callers precede callees
    const Node& theirs = other.nodes_[i];
    here[i] = push(here[static_cast<uint32_t>(theirs.caller)], theirs.function);
  }
  return here;
}

}  // namespace telltale
