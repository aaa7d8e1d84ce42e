#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/heap/heap_graph.h"
#include "analysis/runtime/runtime_timeline.h"
#include "analysis/runtime/weighted_stacks.h"
#include "base/problem.h"
#include "model/call_filter.h"

namespace telltale {

// What trees and exports of calls need of a managed runtime's other events: the functions
// collect_NAME of analysis/ and last_heap_graphs, with what they require.
class RuntimeAnswers {
 public:
  RuntimeAnswers() = default;
  RuntimeAnswers(const RuntimeAnswers&) = delete;
  RuntimeAnswers& operator=(const RuntimeAnswers&) = delete;
  virtual ~RuntimeAnswers() = default;

  [[nodiscard]] virtual RuntimeTimeline runtime_timeline(const CallFilter& filter, size_t workers,
                                                         ProblemLog& problems) const = 0;
  [[nodiscard]] virtual WeightedStacks weighted_stacks(StackMetric weighed,
                                                       const CallFilter& filter, size_t workers,
                                                       ProblemLog& problems) const = 0;
  [[nodiscard]] virtual std::vector<HeapGraph> last_heap_graphs(
      const CallFilter& filter, size_t workers, ProblemLog& problems,
      std::vector<HeapShotLeftOut>* left_out) const = 0;
};

}  // namespace telltale
