#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/calls/numbered_stacks.h"
#include "analysis/runtime/address_map.h"
#include "model/events.h"
#include "model/runtime_events.h"

namespace telltale {

// Stacks as numbers: equal numbers are equal stacks, and each stack refers to its caller's. Memory:
// about 70 bytes for each distinct stack, and for each of its callers.
class StackTable {
 public:
  enum class Id : uint32_t { empty = 0 };

  // `caller` with one more call inside.
  [[gnu::always_inline]] Id push(Id caller, FunctionId function) {
    const Node& from = node(caller);
    const Inner& inner = recent_[from.recent + (to_number(function) & from.recent_mask)];
    if (inner.function == function && inner.stack != Id::empty) [[likely]]
      return inner.stack;
    return push_other(caller, function);
  }
  Id intern(std::span<const FunctionId> outermost_first);
  // What kept(functions) keeps of a recorded stack.
  template <typename Kept>
  [[gnu::always_inline]] Id intern(const RecordedStack& stack, Kept kept) {
    return numbered_.of(stack, [&] { return intern(kept(stack.functions)); });
  }

  // REQUIRES: not empty.
  [[nodiscard]] FunctionId innermost(Id stack) const { return node(stack).function; }
  [[nodiscard]] Id caller(Id stack) const { return node(stack).caller; }
  [[nodiscard]] uint32_t depth(Id stack) const {
    return stack == Id::empty ? 0 : node(stack).depth;
  }
  // Outermost first.
  [[nodiscard]] std::vector<FunctionId> functions(Id stack) const;

  // A placeholder for a stack that is not known before merge(); others may be pushed on it.
  // REQUIRES: fewer bases than 2^31; functions' numbers are below that.
  Id base(uint32_t number) { return push(Id::empty, base_function(number)); }
  static constexpr FunctionId base_function(uint32_t number) {
    return FunctionId{~uint32_t{1} - number};
  }

  // Adds the stacks of `other`; element i is the number here of other's stack i. `bases`: the
  // stacks here that other's bases stand for.
  std::vector<Id> merge(const StackTable& other, std::span<const Id> bases = {});
  [[nodiscard]] size_t size() const { return nodes_.size(); }  // ids are below; Id::empty is one

 private:
  struct Node {
    Id caller = Id::empty;
    FunctionId function{};
    uint32_t depth = 0;
    // Its part of recent_; both 0 until something was pushed on it.
    uint32_t recent = 0;
    uint32_t recent_mask = 0;
  };
  // A stack with one more call inside.
  struct Inner {
    FunctionId function{};
    Id stack = Id::empty;
  };
  static constexpr uint32_t kMostRecent = 64;

  [[nodiscard]] const Node& node(Id stack) const { return nodes_[static_cast<uint32_t>(stack)]; }
  [[gnu::noinline]] Id push_other(Id caller, FunctionId function);
  void remember(Id caller, const Inner& inner);
  void widen(Node& node);

  std::vector<Node> nodes_{Node()};
  AddressMap<Id> inner_;         // by caller and function
  std::vector<Inner> interned_;  // the last stack that intern() was given, and its callers
  NumberedStacks<Id> numbered_;
  // The stacks that were pushed last on each stack, found by the lowest bits of the function's
  // number: what has few callees, as most stacks have, finds them here. The first is never used.
  std::vector<Inner> recent_{Inner()};
};

}  // namespace telltale
