#include "analysis/heap/heap_class_changes.h"

namespace telltale {

HeapClassChanges heap_class_changes(std::span<const HeapShots::TypeSum> before,
                                    std::span<const HeapShots::TypeSum> now) {
  HeapClassChanges changes;
  changes.alive.reserve(now.size());
  auto old = before.begin();
  const auto is_gone = [&](const HeapShots::TypeSum& sum) {
    changes.gone.push_back({{sum.type, {}}, sum.sum});
  };
  for (const HeapShots::TypeSum& sum : now) {
    for (; old != before.end() && old->type < sum.type; ++old) is_gone(*old);
    if (old != before.end() && old->type == sum.type) {
      changes.alive.push_back({sum, old->sum});
      ++old;
    } else {
      changes.alive.push_back({sum, std::nullopt});
    }
  }
  for (; old != before.end(); ++old) is_gone(*old);
  return changes;
}

}  // namespace telltale
