#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/paths/slice.h"
#include "analysis/paths/slice_effects.h"
#include "analysis/paths/slice_nodes.h"
#include "analysis/paths/slice_stack.h"
#include "analysis/paths/slice_targets.h"

namespace telltale {

// Finds the steps of one slice. slicer.cc follows them within an activation, slicer_calls.cc from
// one activation to others. Arguments must live as long as this.
class Slicer {
 public:
  Slicer(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
         const SliceEvidence& evidence, uint64_t most_work);

  Slice run();

 private:
  using StepKind = FunctionData::Kind;
  using Why = Slice::Why;
  using Point = SlicePoint;
  using Cause = SliceCause;

  static constexpr auto kControl = SliceNodes::kControl;
  static constexpr auto kUses = SliceNodes::kUses;
  static constexpr auto kResult = SliceNodes::kResult;

  // One search leads to others, as deep as the stack and the program's calls: they wait for each
  // other in lists. Targets and causes are numbers, in targets_ and causes_.
  struct Search {
    Point from;  // or kSites: the searches of the last Sites
    uint32_t target;
    uint32_t cause;
  };
  // The same, with what each of its steps needs.
  struct Sought {
    uint32_t number;
    uint32_t inside_number;
    uint32_t cause_number;
    SliceTarget target;
    SliceTarget inside;  // what it is to callees
    Cause cause;
    Cause uncertain_cause;
  };
  struct Parameter {
    uint32_t activation;
    uint32_t target;
    uint32_t cause;
  };
  struct Pass {
    uint32_t function;
    uint32_t target;
    uint32_t cause;
  };
  // A target that was sought up to the beginning of an activation.
  struct Entered {
    uint32_t target;
    uint32_t cause;
  };
  struct EnteredBy {
    uint32_t function;
    Entered what;
  };
  using Points = std::vector<Point>;
  // Searches from before all calls that may have led to a function, the last call first. Those of
  // unknown code are the same for all functions that it may call: what one function's searches
  // have done, those of others need not do again.
  struct Sites {
    Points own;
    std::shared_ptr<const Points> unknown;
    size_t unknown_left;
  };
  // How many of the unknown sites are still to be searched from, for a target.
  struct Cursor {
    std::shared_ptr<const Points> sites;
    uint32_t cause = 0;
    size_t left = 0;
  };
  static constexpr uint32_t kSites = UINT32_MAX;

  // The steps of the innermost frame at the line where it stopped, and all calls of the stack.
  void add_stop();
  void add(const Point& at, const Cause& cause, unsigned roles) { nodes_.add(at, cause, roles); }
  [[nodiscard]] Cause cause_of(const Point& at, Why why, std::string_view name = {});
  // Follows what a step depends on.
  void visit(const Point& at, uint8_t roles);
  void add_control(const Point& at);
  // The branches that may have decided that a visit took place.
  void add_deciding(uint32_t index, uint32_t of_visit, const Cause& cause);
  void add_branch(uint32_t index, uint32_t visit, const Cause& cause);
  // A phi takes the value of the block that control came from: what led there decides, too.
  void add_incoming(const Point& at, const FunctionData::Step& step);
  // Adds the definitions of what is used just before a point.
  void use(const Point& at, const FunctionData::Uses& uses, const Cause& cause);
  void use_value(const Point& at, uint32_t value, Cause cause);
  // All that code without data flow may use.
  void use_arguments(const Point& at, const FunctionData::Call& call);

  // Searches, backward from before a point, for steps that may write a target.
  void look_for(const Point& from, const SliceTarget& target, const Cause& cause);
  void look_for(const Point& from, uint32_t target, uint32_t cause) {
    searches_.push_back({from, target, cause});
  }
  uint32_t number_of(const Cause& cause);
  void finish_searches();
  void search(const Search& what);
  void search_next_site(const Search& what);
  // Adds a step if it may write the target; whether it certainly writes all of it.
  bool look_at(const Point& at, const SliceAccess& access, const Sought& what);
  // REQUIRES: the step writes or calls.
  const SliceAccess& access_at(const Point& at) {
    return stack_.effects().access(stack_.function_of(at.activation), stack_.block_of(at), at.step);
  }
  [[nodiscard]] Sought sought(uint32_t target, uint32_t cause);

  // Adds what the result of a call depends on: what its callees return, and for callees without
  // data flow all arguments.
  void add_result(const Point& at, const FunctionData::Call& call);
  // Steps of a function that return what the call of a step needs.
  void add_returns(uint32_t callee, const Point& at);
  // Looks in the callees of a call for what may write the target.
  void look_into(const Point& at, const SliceAccess& access, const Sought& what);
  // Looks for the target backwards from the ends of the function.
  void look_from_ends(uint32_t function, uint32_t target, uint32_t cause);

  // A call that led to activations of a function outside the stack. `callees`: all of the call.
  void add_site(uint32_t function, const Point& at, const std::vector<uint32_t>& callees);
  // The same of all functions that unknown code may call.
  void add_unknown_site(const Point& at);
  // What functions were entered with, in the order of targets.
  const std::vector<Entered>& entered(uint32_t function);
  const std::vector<EnteredBy>& entered_callable();
  void add_entered(uint32_t function, const Entered& what);
  // Looks for definitions of the target before an activation began.
  void leave(uint32_t index, uint32_t target, uint32_t cause);
  void leave_to_sites(uint32_t function, uint32_t target, uint32_t cause);
  void leave_frame(uint32_t frame, uint32_t target, uint32_t cause);
  // Whether what runs before `main`, for example constructors, may have written the target.
  [[nodiscard]] bool may_write_before_main(uint32_t target);
  // Whether searches for the target before a call do not depend on which function it led to.
  [[nodiscard]] bool is_same_for_all(uint32_t target) const;
  // `function`: the one that the call led to; none: others came between. `is_next`: nothing did.
  void look_before_call(std::optional<uint32_t> function, bool is_next, const Point& at,
                        uint32_t target, uint32_t cause);
  // `is_direct`: the call's arguments are the function's parameters.
  void pass_argument(std::optional<uint32_t> function, bool is_direct, const Point& at,
                     uint32_t parameter, Cause cause);
  void look_for_parameter(uint32_t index, uint32_t parameter, const Cause& cause);
  void leave_with_parameter(const Parameter& of);

  // Steps of the whole program that may write the target, in any order.
  void look_everywhere(uint32_t target, uint32_t cause);
  // Whether a step, or code without data flow that it calls, may write the target.
  [[nodiscard]] bool may_write(uint32_t function, uint32_t block, const SliceAccess& access,
                               const SliceTarget& target) const;
  // From now on, activations of the function may come from any of its calls.
  void call_from_everywhere(uint32_t function);
  void pass_everywhere(uint32_t function, uint32_t target, uint32_t cause);
  // The arguments of all calls that may lead to the function.
  void pass_to_callers(const Pass& what);

  SliceStack stack_;
  uint64_t most_work_;
  SliceNodes nodes_{stack_};
  bool leaves_early_ = false;  // exceptions and longjmp end activations at calls
  uint64_t work_ = 0;

  SliceTargets targets_;
  std::deque<Cause> causes_;
  std::set<std::pair<uint32_t, uint32_t>> decided_;  // activation and visit
  std::vector<Point> pending_;                       // of search()
  std::set<uint32_t> unknown_targets_;               // that were looked for in all callable ones
  std::set<uint32_t> unknown_results_;               // functions of these whose results are used
  std::vector<std::set<Point>> sites_;               // by function
  std::vector<uint32_t> sites_at_;                   // by number of the step: in how many of these
  std::set<Point> unknown_sites_;  // calls that may lead to all that unknown code may call
  std::shared_ptr<const Points> unknown_sites_now_;  // the same; none: they have changed
  std::unordered_map<uint32_t, Cursor> cursors_;     // by target
  std::vector<std::vector<Entered>> entered_;        // by function
  std::vector<bool> is_entered_sorted_;              // likewise
  // The same of functions that unknown code may call. Of targets that are the same for all of
  // them, what the last function was entered with.
  std::vector<EnteredBy> callable_own_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> callable_last_;  // by target and cause
  std::vector<EnteredBy> callable_sorted_;                           // all, in order
  bool is_callable_sorted_ = true;
  std::vector<bool> all_calls_;                                // by function
  std::set<std::pair<uint32_t, uint32_t>> passed_everywhere_;  // function and parameter
  // Still to be done; the last ones first.
  std::vector<Search> searches_;
  std::vector<Sites> waiting_sites_;
  std::vector<Parameter> parameters_;
  std::vector<Pass> passes_;
  Slice slice_;
};

}  // namespace telltale
