#include "analysis/runtime/stack_sums.h"

#include <map>
#include <utility>

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
                                         const StackTable& stacks, size_t max_frames,
                                         KeepFrames keep) {
  std::map<std::vector<FunctionId>, StackSums::Sum> cut;
  for (const auto& [stack, theirs] : sums) {
    std::vector<FunctionId> functions = stacks.functions(static_cast<StackTable::Id>(stack));
    if (functions.size() > max_frames) {
      const auto extra = static_cast<std::ptrdiff_t>(functions.size() - max_frames);
      if (keep == KeepFrames::innermost) {
        functions.erase(functions.begin(), functions.begin() + extra);
      } else {
        functions.erase(functions.end() - extra, functions.end());
      }
    }
    if (functions.empty()) continue;
    StackSums::Sum& sum = cut[std::move(functions)];
    sum.count += theirs.count;
    sum.value += theirs.value;
  }
  std::vector<StackSums::Line> lines;
  lines.reserve(cut.size());
  for (auto& [functions, sum] : cut) lines.push_back({functions, sum});
  sort_rows(lines, [](const StackSums::Line& a, const StackSums::Line& b) {
    return a.sum.value > b.sum.value;
  });
  return lines;
}

}  // namespace telltale
