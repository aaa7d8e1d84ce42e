#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/heap/heap_shots.h"
#include "analysis/runtime/loaded_types.h"

namespace telltale {

// Changes of a type's live objects over the heap shots of a recording. docs/analysis/heap.md.
struct TypeGrowth {
  std::string type;                      // types of one name in a process are one
  size_t process = 0;                    // EventStream::process
  std::vector<HeapShots::Sum> by_shot;   // as many as there are shots of the process
  size_t steps_up = 0;                   // steps to a shot with more bytes
  size_t steps_down = 0;                 // fewer
  [[nodiscard]] int64_t bytes() const {  // last less first
    return static_cast<int64_t>(by_shot.back().bytes - by_shot.front().bytes);
  }
  [[nodiscard]] int64_t objects() const {
    return static_cast<int64_t>(by_shot.back().objects - by_shot.front().objects);
  }
  // Whether no step has fewer bytes, and at least two have more: a single one may be the program's
  // start or end. If there are only two shots, one step suffices.
  [[nodiscard]] bool grows_steadily() const {
    return steps_down == 0 && steps_up >= (by_shot.size() > 2 ? 2U : 1U);
  }
};

// All types with objects in any shot, for each process with two shots: steadily growing ones first,
// then by growth in bytes, equal ones by process and name.
std::vector<TypeGrowth> heap_growth(std::span<const HeapShots::Shot> shots,
                                    const LoadedTypes& types);

}  // namespace telltale
