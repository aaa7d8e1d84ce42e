#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "analysis/runtime/weighted_stacks.h"
#include "model/function_names.h"

namespace telltale {

// The names of a recording and, with ids of their own, of frames that are not functions: types,
// native code.
class FrameNames final : public FunctionNames {
 public:
  // `functions` outlives this.
  explicit FrameNames(const FunctionNames& functions) : functions_(functions) {}
  // The frame with that name, created if necessary: ids are in the order of the calls.
  FunctionId add(const std::string& name);
  // Whether a frame is a function.
  static bool is_function(FunctionId id) { return to_number(id) < kFirst; }
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    const uint32_t number = to_number(id);
    return number >= kFirst && number - kFirst < frames_.size() ? frames_[number - kFirst]
                                                                : functions_.describe(id);
  }

 private:
  static constexpr uint32_t kFirst = uint32_t{1} << 31;  // above all ids in recordings
  const FunctionNames& functions_;
  std::deque<FunctionInfo> frames_;  // references stay valid
  std::map<std::string, FunctionId> by_name_;
};

// The value of a node's numbers for weighted stacks.
enum class WeightOf : uint8_t { value, count };

// The live objects of a type; `frame` is the type's.
struct LiveType {
  FunctionId frame{};
  uint64_t objects = 0;
  uint64_t bytes = 0;
};
// The live objects in the window's last heap shot of each process (HeapShotSurvey::last), by type
// in order of name; frames of new types go to `names`. Takes the shots out of `stacks`.
std::vector<LiveType> last_live_types(WeightedStacks& stacks, std::span<const EventStream> streams,
                                      FrameNames& names);

// Weighted stacks as a tree of paths: `calls` are events, `total` and `self` their values (or, with
// WeightOf::count, again the events). An event's subject (a type, native code) is its innermost
// frame; its name goes to `names`. Paths deeper than the options allow are cut, and counted as
// flattened. By thread, whatever the options are.
CallTreePartial weighted_tree(const WeightedStacks& stacks, StackMetric metric, WeightOf weight,
                              const CallTreeOptions& options, FrameNames& names);

}  // namespace telltale
