#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/heap/heap_shots.h"
#include "base/sort_rows.h"

namespace telltale {

// Sums of a heap shot by class, in order of their ids, when several ids stand for a class.
//   class_of(id) -> the class's own id
template <typename ClassOf>
std::vector<HeapShots::TypeSum> sum_by_class(std::vector<HeapShots::TypeSum> sums,
                                             ClassOf class_of) {
  for (HeapShots::TypeSum& sum : sums) sum.type = class_of(sum.type);
  sort_rows(sums, {}, &HeapShots::TypeSum::type);
  size_t classes = 0;
  for (const HeapShots::TypeSum& sum : sums) {
    if (classes != 0 && sums[classes - 1].type == sum.type) {
      sums[classes - 1].sum += sum.sum;
    } else {
      sums[classes++] = sum;
    }
  }
  sums.resize(classes);
  return sums;
}

struct HeapClassChange {
  HeapShots::TypeSum now;
  std::optional<HeapShots::Sum> before;  // in the heap shot before; none: the class is new
};

struct HeapClassChanges {
  std::vector<HeapClassChange> alive;  // in order of the classes' ids
  std::vector<HeapClassChange> gone;   // were in the shot before; the same order
};

// The classes of a heap shot beside those of the one before. REQUIRES: both in order of the
// classes' ids.
HeapClassChanges heap_class_changes(std::span<const HeapShots::TypeSum> before,
                                    std::span<const HeapShots::TypeSum> now);

}  // namespace telltale
