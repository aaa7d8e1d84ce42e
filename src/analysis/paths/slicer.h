#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/slice.h"
#include "analysis/paths/slice_effects.h"
#include "analysis/paths/slice_nodes.h"
#include "analysis/paths/slice_stack.h"
#include "analysis/paths/slice_visits.h"

namespace telltale {

// Finds the steps of one slice. slicer.cc follows them within an activation, slicer_calls.cc from
// one activation to others. Arguments must live as long as this.
class Slicer {
 public:
  Slicer(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
         const SliceEvidence& evidence);

  Slice run();

 private:
  using StepKind = FunctionData::Kind;
  using Why = Slice::Why;
  using Point = SlicePoint;
  using Cause = SliceCause;

  static constexpr auto kControl = SliceNodes::kControl;
  static constexpr auto kUses = SliceNodes::kUses;
  static constexpr auto kResult = SliceNodes::kResult;
  static constexpr uint64_t kMostWork = uint64_t{1} << 27;

  // One search leads to others, as deep as the stack and the program's calls: they wait for each
  // other in lists.
  struct Search {
    Point from;
    SliceTarget target;
    Cause cause;
  };
  struct Parameter {
    uint32_t activation;
    SliceTarget target;
    Cause cause;
  };
  struct Pass {
    uint32_t function;
    SliceTarget target;
    Cause cause;
  };

  // The steps of the innermost frame at the line where it stopped, and all calls of the stack.
  void add_stop();
  void add(const Point& at, const Cause& cause, unsigned roles) { nodes_.add(at, cause, roles); }
  [[nodiscard]] Cause cause_of(const Point& at, Why why, std::string name = {}) const;
  // Follows what a step depends on.
  void visit(const Point& at, uint8_t roles);
  void add_control(const Point& at);
  // The branches that may have decided that a visit took place.
  void add_deciding(uint32_t index, uint32_t of_visit, const Cause& cause);
  void add_branch(uint32_t index, uint32_t visit, const Cause& cause);
  // A phi takes the value of the block that control came from: what led there decides, too.
  void add_incoming(const Point& at, const FunctionData::Step& step);
  // What is used just before a point.
  void use(const Point& at, const FunctionData::Uses& uses, const Cause& cause);
  void use_value(const Point& at, uint32_t value, Cause cause);
  // All that code without data flow may use.
  void use_arguments(const Point& at, const FunctionData::Call& call);

  // Searches, backward from before a point, for steps that may write a target.
  void look_for(const Point& from, const SliceTarget& target, const Cause& cause);
  void finish_searches();
  void search(const Point& from, const SliceTarget& target, const Cause& cause);
  // Adds a step if it may write the target; whether it certainly writes all of it.
  bool look_at(const Point& at, const SliceTarget& target, const Cause& cause);

  // What a call returns, by code with data flow; of other code, all that it gets.
  void add_result(const Point& at, const FunctionData::Call& call);
  // Steps of a function that return what the call of a step needs.
  void add_returns(uint32_t callee, const Point& at);
  // What a call may write.
  void look_into(const Point& at, const FunctionData::Call& call, const SliceTarget& target,
                 const Cause& cause);
  // From where activations of a function ended.
  void look_from_ends(uint32_t function, const SliceTarget& target, const Cause& cause);

  // A call that led to activations of a function outside the stack.
  void add_site(uint32_t function, const Point& at);
  // The same of all functions that unknown code may call.
  void add_unknown_site(const Point& at);
  // What was in the target before an activation began.
  void leave(uint32_t index, const SliceTarget& target, const Cause& cause);
  void leave_frame(uint32_t frame, const SliceTarget& target, const Cause& cause);
  [[nodiscard]] bool may_run_before_main() const;
  // `function`: the one that the call led to; none: others came between. `is_next`: nothing did.
  void look_before_call(std::optional<uint32_t> function, bool is_next, const Point& at,
                        const SliceTarget& target, const Cause& cause);
  // `is_direct`: the call's arguments are the function's parameters.
  void pass_argument(std::optional<uint32_t> function, bool is_direct, const Point& at,
                     uint32_t parameter, Cause cause);
  void look_for_parameter(uint32_t index, uint32_t parameter, const Cause& cause);
  void leave_with_parameter(const Parameter& of);

  // Steps of the whole program that may write the target, in any order.
  void look_everywhere(const SliceTarget& target, const Cause& cause);
  // From now on, activations of the function may come from any of its calls.
  void call_from_everywhere(uint32_t function);
  void pass_everywhere(uint32_t function, const SliceTarget& target, const Cause& cause);
  // The arguments of all calls that may lead to the function.
  void pass_to_callers(const Pass& what);

  SliceStack stack_;
  SliceNodes nodes_{stack_};
  bool leaves_early_ = false;  // exceptions and longjmp end activations at calls
  uint64_t work_ = 0;

  std::set<std::pair<uint32_t, uint32_t>> decided_;  // activation and visit
  SliceVisits searched_;
  std::set<Point> unknown_sites_;          // calls that may lead to all that unknown code may call
  std::set<SliceTarget> unknown_targets_;  // that were looked for in these
  std::set<uint32_t> unknown_results_;     // functions of these whose results are used
  std::set<std::pair<Point, SliceTarget>> left_at_;
  std::set<std::pair<uint32_t, SliceTarget>> left_frames_;
  std::map<uint32_t, std::set<Point>> sites_;                 // by function
  std::map<uint32_t, std::map<SliceTarget, Cause>> entered_;  // by function
  std::vector<bool> all_calls_;                               // by function
  std::set<SliceTarget> everywhere_;
  std::set<std::pair<uint32_t, uint32_t>> passed_everywhere_;  // function and parameter
  // Still to be done; the last ones first.
  std::vector<Search> searches_;
  std::vector<Parameter> parameters_;
  std::vector<Pass> passes_;
  Slice slice_;
};

}  // namespace telltale
