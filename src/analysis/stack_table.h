#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/address_map.h"
#include "model/events.h"

namespace telltale {

// Stacks as numbers: equal numbers are equal stacks, and each stack refers to its caller's. Memory:
// one node for each distinct stack, and for each of its callers.
class StackTable {
 public:
  enum class Id : uint32_t { empty = 0 };

  // `caller` with one more call inside.
  Id push(Id caller, FunctionId function);
  Id intern(std::span<const FunctionId> outermost_first);

  // REQUIRES: not empty.
  [[nodiscard]] FunctionId innermost(Id stack) const { return node(stack).function; }
  [[nodiscard]] Id caller(Id stack) const { return node(stack).caller; }
  [[nodiscard]] uint32_t depth(Id stack) const {
    return stack == Id::empty ? 0 : node(stack).depth;
  }
  // Outermost first.
  [[nodiscard]] std::vector<FunctionId> functions(Id stack) const;

  // Adds the stacks of `other`; element i is the number here of other's stack i.
  std::vector<Id> merge(const StackTable& other);
  [[nodiscard]] size_t size() const { return nodes_.size(); }  // ids are below; Id::empty is one

 private:
  struct Node {
    Id caller = Id::empty;
    FunctionId function{};
    uint32_t depth = 0;
  };
  [[nodiscard]] const Node& node(Id stack) const { return nodes_[static_cast<uint32_t>(stack)]; }

  std::vector<Node> nodes_{Node()};
  AddressMap<Id> inner_;  // by caller and function
};

}  // namespace telltale
