#pragma once

#include <utility>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "analysis/calls/flame_tree.h"
#include "model/clock.h"
#include "model/function_names.h"

namespace telltale {

// A recording's calls with all threads together. What it points to must live during the call.
struct ComparedCalls {
  const CallTree& tree;  // no root, or one
  const Clock& clock;
  const FunctionNames& names;
};

// Functions of two recordings by name. What is known of a function is the later recording's.
class ComparedNames final : public FunctionNames {
 public:
  explicit ComparedNames(std::vector<FunctionInfo> functions) : functions_(std::move(functions)) {}
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    return functions_.at(to_number(id));
  }

 private:
  std::vector<FunctionInfo> functions_;
};

// Two recordings as one flame tree, aligned by the names on each path. Numbers are nanoseconds of
// each recording's own clock (bytes or counts, if that is what the trees measure).
struct FlameComparison {
  FlameTree tree;  // nodes: of `after`; tree.before: of `before`
  ComparedNames names;
};

// A node is kept if it is wide enough in either recording; callees of a node are the widest of
// `after` first. Memory and time O(paths of both), but for a logarithm. Needs no recursion.
FlameComparison compare_flame_trees(const ComparedCalls& before, const ComparedCalls& after,
                                    const FlameLimits& limits);

}  // namespace telltale
