#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/calls/stack_table.h"
#include "analysis/runtime/address_map.h"

namespace telltale {

// Sums by owner (a type, a lock, a method ...) and stack of calls. Stacks are numbers of a
// StackTable that belongs to it.
class StackSums {
 public:
  struct Sum {
    uint64_t count = 0;
    uint64_t value = 0;  // for example bytes
  };
  struct Line {
    std::vector<FunctionId> functions;  // outermost first
    Sum sum;
  };

  void add(uint64_t owner, StackTable::Id stack, uint64_t value) { add(owner, stack, {1, value}); }
  void add(uint64_t owner, StackTable::Id stack, const Sum& more) {
    Sum& sum = by_owner_[owner][static_cast<uint32_t>(stack)];
    sum.count += more.count;
    sum.value += more.value;
  }
  // `here`: the numbers of `other`'s stacks here (StackTable::merge).
  void merge(const StackSums& other, const std::vector<StackTable::Id>& here);
  [[nodiscard]] const AddressMap<AddressMap<Sum>>& by_owner() const { return by_owner_; }

 private:
  AddressMap<AddressMap<Sum>> by_owner_;
};

// Which of a stack's frames are kept, if there are too many.
struct FramesKept {
  size_t most = ~size_t{0};
  bool innermost = true;  // or the outermost

  [[nodiscard]] std::span<const FunctionId> of(std::span<const FunctionId> outermost_first) const {
    if (outermost_first.size() <= most) return outermost_first;
    return innermost ? outermost_first.last(most) : outermost_first.first(most);
  }
};

// An owner's lines, with stacks cut and equal ones merged; the largest values first, equal ones by
// their functions. Sums of empty stacks are omitted.
std::vector<StackSums::Line> stack_lines(const AddressMap<StackSums::Sum>& sums,
                                         const StackTable& stacks, const FramesKept& kept);

}  // namespace telltale
