#include "analysis/runtime/stack_sums.h"

#include <algorithm>

#include "base/sort_rows.h"

namespace telltale {

void StackSums::merge(const StackSums& other, const std::vector<StackTable::Id>& here) {
  for (const auto& [owner, sums] : other.by_owner_) {
    AddressMap<Sum>& ours = by_owner_[owner];
    for (const auto& [stack, theirs] : sums) {
      Sum& sum = ours[static_cast<uint32_t>(here[stack])];
      sum.count += theirs.count;
      sum.value += theirs.value;
    }
  }
}

std::vector<StackSums::Line> stack_lines(const AddressMap<StackSums::Sum>& sums,
                                         const StackTable& stacks, const FramesKept& kept) {
  // The kept frames, innermost first.
  StackTable cuts;
  AddressMap<StackSums::Sum> by_cut;
  for (const auto& [stack, theirs] : sums) {
    auto frame = static_cast<StackTable::Id>(stack);
    if (!kept.innermost)
      while (stacks.depth(frame) > kept.most) frame = stacks.caller(frame);
    StackTable::Id cut = StackTable::Id::empty;
    for (size_t i = 0; i < kept.most && frame != StackTable::Id::empty; ++i) {
      cut = cuts.push(cut, stacks.innermost(frame));
      frame = stacks.caller(frame);
    }
    if (cut == StackTable::Id::empty) continue;
    StackSums::Sum& sum = by_cut[static_cast<uint32_t>(cut)];
    sum.count += theirs.count;
    sum.value += theirs.value;
  }
  std::vector<StackSums::Line> lines;
  lines.reserve(by_cut.size());
  for (const auto& [cut, sum] : by_cut) {
    lines.push_back({cuts.functions(static_cast<StackTable::Id>(cut)), sum});
    std::ranges::reverse(lines.back().functions);
  }
  sort_rows(lines, [](const StackSums::Line& a, const StackSums::Line& b) {
    return a.sum.value != b.sum.value ? a.sum.value > b.sum.value : a.functions < b.functions;
  });
  return lines;
}

}  // namespace telltale
