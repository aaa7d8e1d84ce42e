#include "analysis/paths/slice.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/slice_nodes.h"
#include "analysis/paths/slice_stack.h"
#include "analysis/paths/slice_visits.h"

namespace telltale {
namespace {

using StepKind = FunctionData::Kind;
using Why = Slice::Why;
using Point = SlicePoint;
using Cause = SliceCause;

constexpr auto kControl = SliceNodes::kControl;
constexpr auto kUses = SliceNodes::kUses;
constexpr auto kResult = SliceNodes::kResult;
constexpr uint64_t kMostWork = uint64_t{1} << 27;

class Slicer {
 public:
  Slicer(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
         const SliceEvidence& evidence)
      : stack_(flow, data, evidence), all_calls_(flow.functions.size(), false) {
    for (const ProgramFlow::Function& function : flow.functions) {
      for (const ProgramFlow::Block& block : function.blocks)
        leaves_early_ = leaves_early_ || block.may_resume;
      leaves_early_ = leaves_early_ || function.calls_setjmp;
    }
  }

  Slice run() {
    for (const SliceEvidence::Frame& frame : stack_.evidence().frames)
      if (stack_.data()[frame.function] == nullptr) slice_.notes.insert(Slice::Note::no_data);
    if (!stack_.evidence().frames.empty() &&
        stack_.data()[stack_.evidence().frames[0].function] != nullptr) {
      add_stop();
      while (work_ < kMostWork) {
        const auto next = nodes_.next();
        if (!next) break;
        visit(next->first, next->second);
        finish_searches();
      }
    }
    if (work_ >= kMostWork) slice_.notes.insert(Slice::Note::too_long);
    if (stack_.evidence().others_write) slice_.notes.insert(Slice::Note::other_threads);
    slice_.steps = nodes_.take();
    return std::move(slice_);
  }

 private:
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
  void add_stop() {
    for (const Point& at : stack_.stops_of(0))
      add(at, {.why = Why::stopped, .distance = 0},
          stack_.step_of(at).call ? kControl | kUses : kControl | kUses | kResult);
    for (uint32_t frame = 1; frame < stack_.evidence().frames.size(); ++frame) {
      if (!stack_.has_data(frame)) break;
      for (const Point& at : stack_.stops_of(frame))
        add(at, {.why = Why::calls, .distance = frame, .function = stack_.function_of(frame - 1)},
            kControl);
    }
  }
  void add(const Point& at, const Cause& cause, unsigned roles) { nodes_.add(at, cause, roles); }
  [[nodiscard]] Cause cause_of(const Point& at, Why why, std::string name = {}) const {
    return nodes_.cause_of(at, why, std::move(name));
  }

  // Follows what a step depends on.
  void visit(const Point& at, uint8_t roles) {
    ++work_;
    const FunctionData::Step& step = stack_.step_of(at);
    if ((roles & kControl) != 0) {
      add_control(at);
      if (step.call) use(at, step.uses, cause_of(at, Why::defines));
    }
    if ((roles & kUses) != 0) {
      if (step.call) {
        use_arguments(at, *step.call);
      } else {
        use(at, step.uses, cause_of(at, Why::defines));
        add_incoming(at, step);
      }
    }
    if ((roles & kResult) != 0 && step.call) add_result(at, *step.call);
  }

  void add_control(const Point& at) {
    add_deciding(at.activation, at.visit, cause_of(at, Why::decides));
  }

  // The branches that may have decided that a visit took place.
  void add_deciding(uint32_t index, uint32_t of_visit, const Cause& cause) {
    SliceActivation& of = stack_.activation(index);
    std::vector<uint32_t> pending = {of_visit};
    while (!pending.empty()) {
      const uint32_t last = pending.back();
      pending.pop_back();
      if (!decided_.insert({index, last}).second) continue;
      for (const uint32_t visit : of.deciding(last)) {
        ++work_;
        if (stack_.is_branch(index, visit)) {
          add_branch(index, visit, cause);
        } else {
          // Where a loop without an exit begins: what led there decides.
          pending.push_back(visit);
        }
      }
    }
    if (of.has_limit()) slice_.notes.insert(Slice::Note::too_long);
  }
  void add_branch(uint32_t index, uint32_t visit, const Cause& cause) {
    const auto& steps = stack_.steps_of(index, visit);
    if (!steps.empty())
      add({index, visit, static_cast<uint32_t>(steps.size() - 1)}, cause,
          kControl | kUses | kResult);
  }

  // A phi takes the value of the block that control came from: what led there decides, too.
  void add_incoming(const Point& at, const FunctionData::Step& step) {
    if (step.kind != StepKind::phi) return;
    SliceActivation& of = stack_.activation(at.activation);
    for (const uint32_t visit : of.before(at.visit)) {
      const uint32_t block = of.block(visit);
      const auto& steps = stack_.steps_of(at.activation, visit);
      const auto end = static_cast<uint32_t>(steps.size());
      for (const FunctionData::Incoming& way : step.incoming) {
        if (way.block == block)
          use({at.activation, visit, end}, way.uses,
              cause_of(at, Why::defines, stack_.name_of(at)));
      }
      const Cause cause = cause_of(at, Why::decides);
      if (stack_.is_branch(at.activation, visit)) add_branch(at.activation, visit, cause);
      add_deciding(at.activation, visit, cause);
    }
  }

  // What is used just before a point.
  void use(const Point& at, const FunctionData::Uses& uses, const Cause& cause) {
    const FunctionData& data = stack_.data_of(at.activation);
    for (const uint32_t value : uses.values) use_value(at, value, cause);
    for (const FunctionData::Part& part : uses.contents) {
      Cause its = cause;
      if (its.why == Why::defines) its.name = data.objects[part.object].name;
      look_for(at, target_of(data, part), its);
    }
  }

  void use_value(const Point& at, uint32_t value, Cause cause) {
    const FunctionData& data = stack_.data_of(at.activation);
    if (cause.why == Why::defines) {
      const std::string name = stack_.name_of_value(data, value);
      if (!name.empty()) cause.name = name;
    }
    if (value < data.parameters) {
      look_for_parameter(at.activation, value, cause);
      return;
    }
    const FunctionData::Place& place = data.results[value - data.parameters];
    SliceActivation& of = stack_.activation(at.activation);
    for (const uint32_t visit : of.last_of(place.block, at.visit, place.step < at.step)) {
      ++work_;
      const Point result{at.activation, visit, place.step};
      Cause its = cause;
      if (stack_.step_of(result).call && its.why == Why::defines) its.why = Why::returns;
      add(result, its, kControl | (stack_.step_of(result).call ? kResult : kUses));
    }
  }

  // What a call returns, by code with data flow; of other code, all that it gets.
  void add_result(const Point& at, const FunctionData::Call& call) {
    const uint32_t function = stack_.function_of(at.activation);
    const uint32_t block = stack_.activation(at.activation).block(at.visit);
    for (const uint32_t callee : stack_.effects().callees(function, block, call)) {
      add_site(callee, at);
      add_returns(callee, at);
    }
    const auto& called_back = stack_.effects().called_back(function, block, call);
    if (!called_back.empty()) {
      add_unknown_site(at);
      // Further reasons would say the same.
      for (const uint32_t callee : called_back)
        if (unknown_results_.insert(callee).second) add_returns(callee, at);
    }
    if (stack_.effects().is_opaque(function, block, call)) nodes_.follow(at, kUses);
  }
  // Steps of a function that return what the call of a step needs.
  void add_returns(uint32_t callee, const Point& at) {
    const FunctionData& data = *stack_.data()[callee];
    for (uint32_t i = 0; i < data.blocks.size(); ++i) {
      if (!stack_.effects().may_have_run(callee, i) || data.blocks[i].steps.empty()) continue;
      const auto last = static_cast<uint32_t>(data.blocks[i].steps.size() - 1);
      if (data.blocks[i].steps[last].kind == StepKind::ret)
        add({stack_.others(callee), i, last}, cause_of(at, Why::returns), kControl | kUses);
    }
  }

  // All that code without data flow may use.
  void use_arguments(const Point& at, const FunctionData::Call& call) {
    const FunctionData& data = stack_.data_of(at.activation);
    const Cause cause = cause_of(at, Why::defines);
    for (const FunctionData::Uses& argument : call.arguments) {
      use(at, argument, cause);
      if (!call.reads) continue;
      for (const uint32_t object : argument.addresses) {
        Cause its = cause;
        its.name = data.objects[object].name;
        look_for(at, target_of(data, {.object = object}), its);
      }
    }
    const bool has_pointers = std::ranges::any_of(call.arguments, [](const auto& argument) {
      return !argument.values.empty() || !argument.contents.empty();
    });
    if (call.reads && (has_pointers || !call.arguments_only)) {
      if (!call.arguments_only) slice_.notes.insert(Slice::Note::unknown_calls);
      look_for(at, {}, cause);
    }
  }

  // Searches, backward from before a point, for steps that may write a target.
  void look_for(const Point& from, const SliceTarget& target, const Cause& cause) {
    searches_.push_back({from, target, cause});
  }

  void finish_searches() {
    while (work_ < kMostWork) {
      if (!searches_.empty()) {
        const Search next = std::move(searches_.back());
        searches_.pop_back();
        search(next.from, next.target, next.cause);
      } else if (!parameters_.empty()) {
        const Parameter next = std::move(parameters_.back());
        parameters_.pop_back();
        leave_with_parameter(next);
      } else if (!passes_.empty()) {
        const Pass next = std::move(passes_.back());
        passes_.pop_back();
        pass_to_callers(next);
      } else {
        return;
      }
    }
  }

  void search(const Point& from, const SliceTarget& target, const Cause& cause) {
    struct Place {
      Point at;
      SliceTarget target;
    };
    std::vector<Place> pending = {{from, target}};
    if (stack_.evidence().others_write && target.is_shared) look_everywhere(target, cause);
    while (!pending.empty() && work_ < kMostWork) {
      const Place search = pending.back();
      pending.pop_back();
      const uint32_t index = search.at.activation;
      bool is_hidden = false;
      for (uint32_t i = search.at.step; i-- > 0 && !is_hidden;) {
        ++work_;
        is_hidden = look_at({index, search.at.visit, i}, search.target, cause);
      }
      if (is_hidden) continue;
      SliceActivation& of = stack_.activation(index);
      if (of.is_first(search.at.visit)) leave(index, search.target, cause);
      for (const uint32_t visit : of.before(search.at.visit)) {
        if (searched_.add(index, visit, search.target))
          pending.push_back(
              {{index, visit, static_cast<uint32_t>(stack_.steps_of(index, visit).size())},
               search.target});
      }
    }
  }
  // Adds a step if it may write the target; whether it certainly writes all of it.
  bool look_at(const Point& at, const SliceTarget& target, const Cause& cause) {
    const FunctionData::Step& step = stack_.step_of(at);
    const FunctionData& data = stack_.data_of(at.activation);
    if (step.call) {
      look_into(at, *step.call, target, cause);
      return false;
    }
    const Writes writes = writes_of(data, step, target);
    if (writes == Writes::no) return false;
    add(at, writes == Writes::maybe ? uncertain(cause) : cause, kControl | kUses);
    return writes == Writes::all && !stack_.activation(at.activation).is_loose();
  }

  void look_into(const Point& at, const FunctionData::Call& call, const SliceTarget& target,
                 const Cause& cause) {
    const Cause of_call = uncertain(cause);
    const uint32_t function = stack_.function_of(at.activation);
    const uint32_t block = stack_.activation(at.activation).block(at.visit);
    if (stack_.effects().opaque_writes(function, block, call, target)) {
      if (!call.arguments_only) slice_.notes.insert(Slice::Note::unknown_calls);
      add(at, of_call, kControl | kUses);
    }
    const SliceTarget inside = SliceEffects::for_callee(target);
    for (const uint32_t callee : stack_.effects().callees(function, block, call)) {
      if (!stack_.effects().may_write(callee, inside)) continue;
      add(at, of_call, kControl);
      add_site(callee, at);
      look_from_ends(callee, inside, cause);
    }
    const auto& called_back = stack_.effects().called_back(function, block, call);
    if (called_back.empty() || !stack_.effects().may_callable_write(inside)) return;
    add(at, of_call, kControl);
    add_unknown_site(at);
    if (!unknown_targets_.insert(inside).second) return;
    for (const uint32_t callee : called_back)
      if (stack_.effects().may_write(callee, inside)) look_from_ends(callee, inside, cause);
  }

  // From where activations of a function ended.
  void look_from_ends(uint32_t function, const SliceTarget& target, const Cause& cause) {
    const uint32_t index = stack_.others(function);
    const auto& blocks = stack_.flow().functions[function].blocks;
    for (uint32_t block = 0; block < blocks.size(); ++block) {
      if (!stack_.effects().may_have_run(function, block)) continue;
      const auto end = static_cast<uint32_t>(stack_.data()[function]->blocks[block].steps.size());
      if (blocks[block].successors.empty() || leaves_early_) {
        if (searched_.add(index, block, target)) look_for({index, block, end}, target, cause);
      }
      if (!leaves_early_) continue;
      // An exception may have left it at a call.
      for (uint32_t step = 0; step < end; ++step) {
        if (stack_.data()[function]->blocks[block].steps[step].call &&
            left_at_.insert({{index, block, step}, target}).second)
          look_for({index, block, step + 1}, target, cause);
      }
    }
  }

  // A call that led to activations of a function outside the stack.
  void add_site(uint32_t function, const Point& at) {
    if (!sites_[function].insert(at).second) return;
    const std::map<SliceTarget, Cause>& known = entered_[function];
    for (const auto& [target, cause] : known) look_before_call(function, false, at, target, cause);
  }

  // The same of all functions that unknown code may call.
  void add_unknown_site(const Point& at) {
    if (!unknown_sites_.insert(at).second) return;
    for (const uint32_t function : stack_.effects().callable()) {
      const std::map<SliceTarget, Cause>& known = entered_[function];
      for (const auto& [target, cause] : known)
        look_before_call(function, false, at, target, cause);
    }
  }

  // What was in the target before an activation began.
  void leave(uint32_t index, const SliceTarget& target, const Cause& cause) {
    if (target.kind == SliceTarget::Kind::local || target.kind == SliceTarget::Kind::foreign)
      return;
    if (stack_.is_frame(index)) {
      if (left_frames_.emplace(index, target).second) leave_frame(index, target, cause);
      return;
    }
    const uint32_t function = stack_.function_of(index);
    if (!entered_[function].emplace(target, cause).second) return;
    if (all_calls_[function]) return look_everywhere(target, cause);
    std::set<Point> sites = sites_[function];
    if (stack_.effects().is_callable(function))
      sites.insert(unknown_sites_.begin(), unknown_sites_.end());
    for (const Point& site : sites) look_before_call(function, false, site, target, cause);
  }

  void leave_frame(uint32_t frame, const SliceTarget& target, const Cause& cause) {
    const uint32_t caller = frame + 1;
    const bool has_caller = caller < stack_.evidence().frames.size();
    if (has_caller && stack_.has_data(caller)) {
      for (const Point& at : stack_.stops_of(caller)) {
        const bool is_next = stack_.evidence().frames[caller].called_directly;
        look_before_call(is_next ? std::optional(stack_.function_of(frame)) : std::nullopt, is_next,
                         at, target, cause);
      }
      return;
    }
    // Before `main`, constructors and other code may have run; before a thread, anything.
    const ProgramFlow::Function& function = stack_.flow().functions[stack_.function_of(frame)];
    if (has_caller || !function.is_start || may_run_before_main()) look_everywhere(target, cause);
  }
  [[nodiscard]] bool may_run_before_main() const {
    return std::ranges::any_of(stack_.flow().functions, &ProgramFlow::Function::is_open);
  }

  // `function`: the one that the call led to; none: others came between. `is_next`: nothing did.
  void look_before_call(std::optional<uint32_t> function, bool is_next, const Point& at,
                        const SliceTarget& target, const Cause& cause) {
    const FunctionData::Step& step = stack_.step_of(at);
    const bool is_callee = function && step.call && stack_.may_call(at, *function);
    // Other code ran between the call and the function: in a library, or its callee ended with a
    // jump to the function.
    if (step.call && !is_callee && target.kind != SliceTarget::Kind::parameter)
      look_into(at, *step.call, target, cause);
    if (function && step.call && !is_callee) {
      call_from_everywhere(*function);
      pass_everywhere(*function, target, cause);
    }
    if (target.kind == SliceTarget::Kind::parameter) {
      const bool is_direct = is_callee && (is_next || stack_.is_known_callee(at, *function));
      pass_argument(function, is_direct, at, target.index, cause);
      return;
    }
    // Interrupted by a signal: the step may have been done.
    if (!step.call) look_at(at, target, cause);
    look_for(at, target, cause);
    // Arguments in memory are what the caller computed.
    if (step.call && target.kind == SliceTarget::Kind::memory &&
        (!function || stack_.data()[*function] == nullptr ||
         stack_.data()[*function]->takes_memory))
      for (const FunctionData::Uses& argument : step.call->arguments) use(at, argument, cause);
  }
  // `is_direct`: the call's arguments are the function's parameters.
  void pass_argument(std::optional<uint32_t> function, bool is_direct, const Point& at,
                     uint32_t parameter, Cause cause) {
    const FunctionData::Step& step = stack_.step_of(at);
    cause.why = Why::passes;
    if (function && stack_.data()[*function] != nullptr)
      cause.name = stack_.name_of_value(*stack_.data()[*function], parameter);
    add(at, cause, kControl);
    ++cause.distance;
    cause.why = Why::defines;
    const Cause its = cause_of(at, Why::defines);
    cause.line = its.line;
    cause.function = its.function;
    cause.name.clear();
    if (!step.call) return use(at, step.uses, cause);
    if (is_direct && parameter < step.call->arguments.size())
      return use(at, step.call->arguments[parameter], cause);
    for (const FunctionData::Uses& argument : step.call->arguments) use(at, argument, cause);
    look_for(at, {}, cause);
  }

  void look_for_parameter(uint32_t index, uint32_t parameter, const Cause& cause) {
    const SliceTarget target{
        .kind = SliceTarget::Kind::parameter, .is_shared = false, .index = parameter};
    if (searched_.add(index, 0, target)) parameters_.push_back({index, target, cause});
  }
  void leave_with_parameter(const Parameter& of) {
    const uint32_t function = stack_.function_of(of.activation);
    if (stack_.is_frame(of.activation) || !all_calls_[function])
      return leave(of.activation, of.target, of.cause);
    pass_everywhere(function, of.target, of.cause);
  }

  // Steps of the whole program that may write the target, in any order.
  void look_everywhere(const SliceTarget& target, const Cause& cause) {
    if (target.kind == SliceTarget::Kind::parameter) return;
    const SliceTarget inside = SliceEffects::for_callee(target);
    if (!everywhere_.insert(inside).second) return;
    const Cause its = uncertain(cause);
    stack_.for_each_step(
        [&](uint32_t f, uint32_t block, const FunctionData::Step& step, uint32_t i) {
          ++work_;
          const bool writes =
              writes_of(*stack_.data()[f], step, inside) != Writes::no ||
              (step.call && stack_.effects().opaque_writes(f, block, *step.call, inside));
          if (!writes) return;
          call_from_everywhere(f);
          for (const Point& at : stack_.points_of(f, block, i)) add(at, its, kControl | kUses);
        });
  }

  // From now on, activations of the function may come from any of its calls.
  void call_from_everywhere(uint32_t function) {
    if (all_calls_[function]) return;
    all_calls_[function] = true;
    const std::map<SliceTarget, Cause>& known = entered_[function];
    for (const auto& [target, cause] : known) pass_everywhere(function, target, cause);
  }

  void pass_everywhere(uint32_t function, const SliceTarget& target, const Cause& cause) {
    if (target.kind != SliceTarget::Kind::parameter ||
        passed_everywhere_.insert({function, target.index}).second)
      passes_.push_back({function, target, cause});
  }
  // The arguments of all calls that may lead to the function.
  void pass_to_callers(const Pass& what) {
    if (what.target.kind != SliceTarget::Kind::parameter)
      return look_everywhere(what.target, what.cause);
    const auto pass = [&](uint32_t f, uint32_t block, const FunctionData::Step& step, uint32_t i) {
      ++work_;
      if (!stack_.effects().may_call(f, block, *step.call, what.function)) return;
      call_from_everywhere(f);
      for (const Point& at : stack_.points_of(f, block, i)) {
        pass_argument(what.function, stack_.is_known_callee(at, what.function), at,
                      what.target.index, what.cause);
      }
    };
    for (const uint32_t caller : stack_.effects().callers(what.function))
      stack_.for_each_call_of(caller, pass);
  }

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

}  // namespace

Slice slice_backward(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
                     const SliceEvidence& evidence) {
  return Slicer(flow, data, evidence).run();
}

SliceEvidence stack_alone(const SliceEvidence& evidence) {
  SliceEvidence alone = evidence;
  for (std::vector<Ran>& blocks : alone.ran) blocks.assign(blocks.size(), Ran::maybe);
  for (SliceEvidence::Frame& frame : alone.frames) {
    frame.blocks.assign(frame.blocks.size(), Ran::maybe);
    for (const std::vector<uint32_t>& way : frame.ways)
      if (!way.empty()) frame.stopped_in.push_back(way.back());
    frame.ways.clear();
    frame.is_whole = false;
  }
  return alone;
}

}  // namespace telltale
