#include "analysis/paths/slice.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/paths/slice_activation.h"
#include "analysis/paths/slice_effects.h"

namespace telltale {
namespace {

using StepKind = FunctionData::Kind;
using Why = Slice::Why;

constexpr uint64_t kMostWork = uint64_t{1} << 25;
constexpr size_t kMostReasons = 4;  // of a step

// A step of a visit, or the place before it.
struct Point {
  uint32_t activation = 0;  // a frame of the stack, or the other calls of a function
  uint32_t visit = 0;
  uint32_t step = 0;
  auto operator<=>(const Point&) const = default;
};

// What needs a step.
struct Cause {
  Why why = Why::defines;
  uint32_t distance = 0;
  std::string name = {};
  uint32_t line = 0;
  uint32_t function = 0;
};

class Slicer {
 public:
  Slicer(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
         const SliceEvidence& evidence)
      : flow_(flow), data_(data), evidence_(evidence), effects_(flow, data, evidence.ran) {
    activations_.resize(evidence.frames.size() + flow.functions.size());
    all_calls_.resize(flow.functions.size(), false);
    for (const ProgramFlow::Function& function : flow.functions) {
      for (const ProgramFlow::Block& block : function.blocks)
        leaves_early_ = leaves_early_ || block.may_resume;
      leaves_early_ = leaves_early_ || function.calls_setjmp;
    }
  }

  Slice run() {
    for (const SliceEvidence::Frame& frame : evidence_.frames)
      if (data_[frame.function] == nullptr) slice_.notes.insert(Slice::Note::no_data);
    if (!evidence_.frames.empty() && data_[evidence_.frames[0].function] != nullptr) {
      add_stop();
      while (!pending_.empty() && work_ < kMostWork) {
        const auto [node, role] = pending_.front();
        pending_.pop_front();
        visit(node, role);
      }
    }
    if (work_ >= kMostWork) slice_.notes.insert(Slice::Note::too_long);
    if (evidence_.others_write) slice_.notes.insert(Slice::Note::other_threads);
    return take();
  }

 private:
  // What of a step is followed.
  enum Role : uint8_t {
    kControl = 1,  // what decides that it runs, and which function it calls
    kUses = 2,     // what it computes from; of a call: its arguments
    kResult = 4,   // of a call: what its callee returns
  };
  struct Node {
    Slice::Step step;
    uint8_t roles = 0;
    // Its own, or that of what needs it.
    uint32_t line = 0;
    uint32_t line_function = 0;
  };

  [[nodiscard]] bool is_frame(uint32_t activation) const {
    return activation < evidence_.frames.size();
  }
  [[nodiscard]] uint32_t others(uint32_t function) const {
    return static_cast<uint32_t>(evidence_.frames.size() + function);
  }
  [[nodiscard]] uint32_t function_of(uint32_t activation) const {
    return is_frame(activation)
               ? evidence_.frames[activation].function
               : activation - static_cast<uint32_t>(evidence_.frames.size());
  }
  [[nodiscard]] const FunctionData& data_of(uint32_t activation) const {
    return *data_[function_of(activation)];
  }
  SliceActivation& activation(uint32_t index) {
    if (activations_[index] == nullptr) {
      const uint32_t function = function_of(index);
      activations_[index] =
          is_frame(index) ? std::make_unique<SliceActivation>(flow_.functions[function],
                                                              evidence_.frames[index])
                          : std::make_unique<SliceActivation>(flow_.functions[function],
                                                              evidence_.ran[function]);
    }
    return *activations_[index];
  }
  const std::vector<FunctionData::Step>& steps_of(uint32_t index, uint32_t visit) {
    return data_of(index).blocks[activation(index).block(visit)].steps;
  }
  const FunctionData::Step& step_of(const Point& at) {
    return steps_of(at.activation, at.visit)[at.step];
  }

  // The steps of the innermost frame at the line where it stopped, and all calls of the stack.
  void add_stop() {
    for (const Point& at : stops_of(0))
      add(at, {.why = Why::stopped, .distance = 0},
          step_of(at).call ? kControl | kUses : kControl | kUses | kResult);
    for (uint32_t frame = 1; frame < evidence_.frames.size(); ++frame) {
      if (data_of_or_null(frame) == nullptr) break;
      for (const Point& at : stops_of(frame))
        add(at, {.why = Why::calls, .distance = frame, .function = function_of(frame - 1)},
            kControl);
    }
  }
  [[nodiscard]] const FunctionData* data_of_or_null(uint32_t index) const {
    return data_[function_of(index)];
  }

  // The steps that a frame stopped at: calls that may have led to the frame before it, or
  // instructions at the line. If none fits, all steps of the block. If the block is not known,
  // blocks in which some step fits.
  const std::vector<Point>& stops_of(uint32_t frame) {
    const auto [known, is_new] = stops_.try_emplace(frame);
    if (!is_new) return known->second;
    const SliceEvidence::Frame& told = evidence_.frames[frame];
    std::vector<Point>& best = known->second;
    uint32_t best_rank = 0;  // of all blocks
    for (const uint32_t visit : activation(frame).stops()) {
      const auto& steps = steps_of(frame, visit);
      uint32_t rank = told.is_in_call ? 1 : 0;
      if (told.ways.empty()) rank = std::max(rank, best_rank);
      std::vector<Point> of_visit;
      for (uint32_t i = 0; i < steps.size(); ++i) {
        const uint32_t its = rank_of_stop(frame, visit, steps[i], told);
        if (its < rank) continue;
        if (its > rank) of_visit.clear();
        rank = its;
        of_visit.push_back({frame, visit, i});
      }
      if (told.ways.empty() && rank > best_rank) best.clear();
      best_rank = std::max(best_rank, rank);
      best.insert(best.end(), of_visit.begin(), of_visit.end());
    }
    return best;
  }

  uint32_t rank_of_stop(uint32_t frame, uint32_t visit, const FunctionData::Step& step,
                        const SliceEvidence::Frame& told) {
    const bool has_line = told.line != 0 && step.line == told.line;
    if (!told.is_in_call) return has_line ? 1 : 0;
    if (!step.call) return 0;
    if (frame == 0 || !told.called_directly) return has_line ? 2 : 1;
    const uint32_t callee = function_of(frame - 1);
    const bool leads =
        effects_.may_call(told.function, activation(frame).block(visit), *step.call, callee);
    return (leads ? 2 : 0) + (has_line ? 1 : 0) + 1;
  }

  void add(const Point& at, const Cause& cause, unsigned roles) {
    const auto [found, is_new] = nodes_.try_emplace(at);
    Node& node = found->second;
    const FunctionData::Step& step = step_of(at);
    if (is_new) {
      const uint32_t function = function_of(at.activation);
      node.step = {.frame = is_frame(at.activation) ? std::optional<size_t>(at.activation)
                                                    : std::nullopt,
                   .function = function,
                   .block = activation(at.activation).block(at.visit),
                   .step = at.step,
                   .distance = cause.distance,
                   .reasons = {}};
      node.line = step.line == 0 ? cause.line : step.line;
      node.line_function = step.line == 0 ? cause.function : function;
    }
    node.step.distance = std::min(node.step.distance, cause.distance);
    const Slice::Reason reason{
        .why = cause.why, .name = cause.name, .line = cause.line, .function = cause.function};
    if (node.step.reasons.size() < kMostReasons &&
        std::ranges::find(node.step.reasons, reason) == node.step.reasons.end())
      node.step.reasons.push_back(reason);
    const auto more = static_cast<uint8_t>(roles & ~unsigned{node.roles});
    if (more == 0) return;
    node.roles |= more;
    pending_.emplace_back(at, more);
  }

  Cause cause_of(const Point& at, Why why, std::string name = {}) {
    const Node& node = nodes_.at(at);
    return {.why = why,
            .distance = node.step.distance + 1,
            .name = std::move(name),
            .line = node.line,
            .function = node.line_function};
  }

  // Follows what a step depends on.
  void visit(const Point& at, uint8_t roles) {
    ++work_;
    const FunctionData::Step& step = step_of(at);
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
    SliceActivation& of = activation(index);
    std::vector<uint32_t> pending = {of_visit};
    while (!pending.empty()) {
      const uint32_t last = pending.back();
      pending.pop_back();
      if (!decided_.insert({index, last}).second) continue;
      for (const uint32_t visit : of.deciding(last)) {
        ++work_;
        if (is_branch(index, visit)) {
          add_branch(index, visit, cause);
        } else {
          // Where a loop without an exit begins: what led there decides.
          pending.push_back(visit);
        }
      }
    }
    if (of.has_limit()) slice_.notes.insert(Slice::Note::too_long);
  }
  bool is_branch(uint32_t index, uint32_t visit) {
    const uint32_t block = activation(index).block(visit);
    return flow_.functions[function_of(index)].blocks[block].successors.size() > 1;
  }
  void add_branch(uint32_t index, uint32_t visit, const Cause& cause) {
    const auto& steps = steps_of(index, visit);
    if (!steps.empty())
      add({index, visit, static_cast<uint32_t>(steps.size() - 1)}, cause,
          kControl | kUses | kResult);
  }

  // A phi takes the value of the block that control came from: what led there decides, too.
  void add_incoming(const Point& at, const FunctionData::Step& step) {
    if (step.kind != StepKind::phi) return;
    SliceActivation& of = activation(at.activation);
    for (const uint32_t visit : of.before(at.visit)) {
      const uint32_t block = of.block(visit);
      const auto& steps = steps_of(at.activation, visit);
      const auto end = static_cast<uint32_t>(steps.size());
      for (const FunctionData::Incoming& way : step.incoming) {
        if (way.block == block)
          use({at.activation, visit, end}, way.uses, cause_of(at, Why::defines, name_of(at)));
      }
      const Cause cause = cause_of(at, Why::decides);
      if (is_branch(at.activation, visit)) add_branch(at.activation, visit, cause);
      add_deciding(at.activation, visit, cause);
    }
  }

  std::string name_of(const Point& at) {
    const FunctionData::Step& step = step_of(at);
    return step.value ? name_of_value(data_of(at.activation), *step.value) : std::string();
  }
  static std::string name_of_value(const FunctionData& data, uint32_t value) {
    const auto found = data.names.find(value);
    return found == data.names.end() ? std::string() : found->second;
  }

  // What is used just before a point.
  void use(const Point& at, const FunctionData::Uses& uses, const Cause& cause) {
    const FunctionData& data = data_of(at.activation);
    for (const uint32_t value : uses.values) use_value(at, value, cause);
    for (const FunctionData::Part& part : uses.contents) {
      Cause its = cause;
      if (its.why == Why::defines) its.name = data.objects[part.object].name;
      look_for(at, target_of(data, part), its);
    }
  }

  void use_value(const Point& at, uint32_t value, Cause cause) {
    const FunctionData& data = data_of(at.activation);
    if (cause.why == Why::defines) {
      const std::string name = name_of_value(data, value);
      if (!name.empty()) cause.name = name;
    }
    if (value < data.parameters) {
      look_for_parameter(at.activation, value, cause);
      return;
    }
    const FunctionData::Place& place = data.results[value - data.parameters];
    SliceActivation& of = activation(at.activation);
    for (const uint32_t visit : of.last_of(place.block, at.visit, place.step < at.step)) {
      ++work_;
      const Point result{at.activation, visit, place.step};
      Cause its = cause;
      if (step_of(result).call && its.why == Why::defines) its.why = Why::returns;
      add(result, its, kControl | (step_of(result).call ? kResult : kUses));
    }
  }

  // What a call returns, by code with data flow; of other code, all that it gets.
  void add_result(const Point& at, const FunctionData::Call& call) {
    const uint32_t function = function_of(at.activation);
    const uint32_t block = activation(at.activation).block(at.visit);
    for_each_callee(function, block, call, [&](uint32_t callee) {
      add_site(callee, at);
      const FunctionData& data = *data_[callee];
      for (uint32_t i = 0; i < data.blocks.size(); ++i) {
        if (!effects_.may_have_run(callee, i) || data.blocks[i].steps.empty()) continue;
        const auto last = static_cast<uint32_t>(data.blocks[i].steps.size() - 1);
        if (data.blocks[i].steps[last].kind == StepKind::ret)
          add({others(callee), i, last}, cause_of(at, Why::returns), kControl | kUses);
      }
    });
    if (effects_.is_opaque(function, block, call)) add(at, cause_of_same(at), kUses);
  }
  template <typename Use>
  void for_each_callee(uint32_t function, uint32_t block, const FunctionData::Call& call,
                       const Use& use) {
    const auto& known = effects_.callees(function, block, call);
    std::ranges::for_each(known, use);
    for (const uint32_t callee : effects_.called_back(function, block, call))
      if (std::ranges::find(known, callee) == known.end()) use(callee);
  }
  // A further role of a node, for the same reason.
  Cause cause_of_same(const Point& at) {
    const Slice::Reason& first = nodes_.at(at).step.reasons.front();
    return {.why = first.why,
            .distance = nodes_.at(at).step.distance,
            .name = first.name,
            .line = first.line,
            .function = first.function};
  }

  // All that code without data flow may use.
  void use_arguments(const Point& at, const FunctionData::Call& call) {
    const FunctionData& data = data_of(at.activation);
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
    struct Search {
      Point at;
      SliceTarget target;
    };
    std::vector<Search> pending = {{from, target}};
    if (evidence_.others_write && target.is_shared) look_everywhere(target, cause);
    while (!pending.empty() && work_ < kMostWork) {
      const Search search = std::move(pending.back());
      pending.pop_back();
      const uint32_t index = search.at.activation;
      bool is_hidden = false;
      for (uint32_t i = search.at.step; i-- > 0 && !is_hidden;) {
        ++work_;
        is_hidden = look_at({index, search.at.visit, i}, search.target, cause);
      }
      if (is_hidden) continue;
      SliceActivation& of = activation(index);
      if (of.is_first(search.at.visit)) leave(index, search.target, cause);
      for (const uint32_t visit : of.before(search.at.visit)) {
        if (is_searched(index, visit, search.target))
          pending.push_back(
              {{index, visit, static_cast<uint32_t>(steps_of(index, visit).size())},
               search.target});
      }
    }
  }
  // Whether that is new.
  bool is_searched(uint32_t activation, uint32_t visit, const SliceTarget& target) {
    const auto [found, is_new] =
        targets_.try_emplace(target, static_cast<uint32_t>(targets_.size()));
    return searched_.insert({{activation, visit}, found->second}).second;
  }

  // Adds a step if it may write the target; whether it certainly writes all of it.
  bool look_at(const Point& at, const SliceTarget& target, const Cause& cause) {
    const FunctionData::Step& step = step_of(at);
    const FunctionData& data = data_of(at.activation);
    if (step.call) {
      look_into(at, *step.call, target, cause);
      return false;
    }
    const Writes writes = writes_of(data, step, target);
    if (writes == Writes::no) return false;
    Cause its = cause;
    if (writes == Writes::maybe && its.why == Why::defines) its.why = Why::may_define;
    add(at, its, kControl | kUses);
    return writes == Writes::all && !activation(at.activation).is_loose();
  }

  void look_into(const Point& at, const FunctionData::Call& call, const SliceTarget& target,
                 Cause cause) {
    if (cause.why == Why::defines) cause.why = Why::may_define;
    const uint32_t function = function_of(at.activation);
    const uint32_t block = activation(at.activation).block(at.visit);
    if (effects_.opaque_writes(function, block, call, target)) {
      if (!call.arguments_only) slice_.notes.insert(Slice::Note::unknown_calls);
      add(at, cause, kControl | kUses);
    }
    const SliceTarget inside = SliceEffects::for_callee(target);
    const auto look = [&](uint32_t callee) {
      ++work_;
      if (!effects_.may_write(callee, inside)) return;
      add(at, cause, kControl);
      add_site(callee, at);
      look_from_ends(callee, inside, cause);
    };
    std::ranges::for_each(effects_.callees(function, block, call), look);
    if (effects_.may_callable_write(inside))
      std::ranges::for_each(effects_.called_back(function, block, call), look);
  }

  // From where activations of a function ended.
  void look_from_ends(uint32_t function, const SliceTarget& target, const Cause& cause) {
    const uint32_t index = others(function);
    const auto& blocks = flow_.functions[function].blocks;
    for (uint32_t block = 0; block < blocks.size(); ++block) {
      if (!effects_.may_have_run(function, block)) continue;
      const auto end = static_cast<uint32_t>(data_[function]->blocks[block].steps.size());
      if (blocks[block].successors.empty() || leaves_early_) {
        if (is_searched(index, block, target)) look_for({index, block, end}, target, cause);
      }
      if (!leaves_early_) continue;
      // An exception may have left it at a call.
      for (uint32_t step = 0; step < end; ++step) {
        if (data_[function]->blocks[block].steps[step].call &&
            left_at_.insert({{index, block, step}, target}).second)
          look_for({index, block, step + 1}, target, cause);
      }
    }
  }

  // A call that led to activations of a function outside the stack.
  void add_site(uint32_t function, const Point& at) {
    if (!sites_[function].insert(at).second) return;
    const std::map<SliceTarget, Cause> known = entered_[function];
    for (const auto& [target, cause] : known) look_before_call(function, false, at, target, cause);
  }

  // What was in the target before an activation began.
  void leave(uint32_t index, const SliceTarget& target, const Cause& cause) {
    if (target.kind == SliceTarget::Kind::local || target.kind == SliceTarget::Kind::foreign)
      return;
    if (is_frame(index)) return leave_frame(index, target, cause);
    const uint32_t function = function_of(index);
    if (!entered_[function].emplace(target, cause).second) return;
    if (all_calls_[function]) return look_everywhere(target, cause);
    const std::set<Point> sites = sites_[function];
    for (const Point& site : sites) look_before_call(function, false, site, target, cause);
  }

  void leave_frame(uint32_t frame, const SliceTarget& target, const Cause& cause) {
    const uint32_t caller = frame + 1;
    const bool has_caller = caller < evidence_.frames.size();
    if (has_caller && data_of_or_null(caller) != nullptr) {
      for (const Point& at : stops_of(caller)) {
        const bool is_next = evidence_.frames[caller].called_directly;
        look_before_call(is_next ? std::optional(function_of(frame)) : std::nullopt, is_next, at,
                         target, cause);
      }
      return;
    }
    // Before `main`, constructors and other code may have run; before a thread, anything.
    const ProgramFlow::Function& function = flow_.functions[function_of(frame)];
    if (has_caller || !function.is_start || may_run_before_main()) look_everywhere(target, cause);
  }
  [[nodiscard]] bool may_run_before_main() const {
    return std::ranges::any_of(flow_.functions, &ProgramFlow::Function::is_open);
  }

  // `function`: the one that the call led to; none: others came between. `is_next`: nothing did.
  void look_before_call(std::optional<uint32_t> function, bool is_next, const Point& at,
                        const SliceTarget& target, const Cause& cause) {
    const FunctionData::Step& step = step_of(at);
    const bool is_callee = function && step.call && may_call(at, *function);
    // Other code ran between the call and the function: in a library, or its callee ended with a
    // jump to the function.
    if (step.call && !is_callee && target.kind != SliceTarget::Kind::parameter)
      look_into(at, *step.call, target, cause);
    if (function && step.call && !is_callee) {
      call_from_everywhere(*function);
      pass_everywhere(*function, target, cause);
    }
    if (target.kind == SliceTarget::Kind::parameter) {
      const bool is_direct = is_callee && (is_next || is_known_callee(at, *function));
      pass_argument(function, is_direct, at, target.index, cause);
      return;
    }
    look_for(at, target, cause);
    // Arguments in memory are what the caller computed.
    if (step.call && target.kind == SliceTarget::Kind::memory &&
        (!function || data_[*function] == nullptr || data_[*function]->takes_memory))
      for (const FunctionData::Uses& argument : step.call->arguments) use(at, argument, cause);
  }
  bool may_call(const Point& at, uint32_t callee) {
    return effects_.may_call(function_of(at.activation), activation(at.activation).block(at.visit),
                             *step_of(at).call, callee);
  }
  bool is_known_callee(const Point& at, uint32_t callee) {
    const auto& known =
        effects_.callees(function_of(at.activation), activation(at.activation).block(at.visit),
                         *step_of(at).call);
    return std::ranges::find(known, callee) != known.end();
  }

  // `is_direct`: the call's arguments are the function's parameters.
  void pass_argument(std::optional<uint32_t> function, bool is_direct, const Point& at,
                     uint32_t parameter, Cause cause) {
    const FunctionData::Step& step = step_of(at);
    cause.why = Why::passes;
    if (function && data_[*function] != nullptr)
      cause.name = name_of_value(*data_[*function], parameter);
    add(at, cause, kControl);
    ++cause.distance;
    cause.why = Why::defines;
    cause.line = nodes_.at(at).line;
    cause.function = nodes_.at(at).line_function;
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
    if (!is_searched(index, 0, target)) return;
    if (is_frame(index) || !all_calls_[function_of(index)]) return leave(index, target, cause);
    pass_everywhere(function_of(index), target, cause);
  }

  // Steps of the whole program that may write the target, in any order.
  void look_everywhere(const SliceTarget& target, const Cause& cause) {
    if (target.kind == SliceTarget::Kind::parameter) return;
    const SliceTarget inside = SliceEffects::for_callee(target);
    if (!everywhere_.insert(inside).second) return;
    Cause its = cause;
    if (its.why == Why::defines) its.why = Why::may_define;
    for_each_step([&](uint32_t f, uint32_t block, const FunctionData::Step& step, uint32_t i) {
      const bool writes = writes_of(*data_[f], step, inside) != Writes::no ||
                          (step.call && effects_.opaque_writes(f, block, *step.call, inside));
      if (!writes) return;
      call_from_everywhere(f);
      for (const Point& at : points_of(f, block, i)) add(at, its, kControl | kUses);
    });
  }

  // Of all that may have run.
  template <typename Use>
  void for_each_step(const Use& use) {
    for (uint32_t f = 0; f < data_.size(); ++f) {
      if (data_[f] == nullptr) continue;
      for (uint32_t block = 0; block < data_[f]->blocks.size(); ++block) {
        if (!effects_.may_have_run(f, block)) continue;
        const auto& steps = data_[f]->blocks[block].steps;
        for (uint32_t i = 0; i < steps.size(); ++i) {
          ++work_;
          use(f, block, steps[i], i);
        }
      }
    }
  }
  // A step in all activations that may have run it.
  std::vector<Point> points_of(uint32_t function, uint32_t block, uint32_t step) {
    std::vector<Point> points = {{others(function), block, step}};
    for (uint32_t frame = 0; frame < evidence_.frames.size(); ++frame) {
      if (evidence_.frames[frame].function != function) continue;
      for (const uint32_t visit : activation(frame).visits_of(block))
        points.push_back({frame, visit, step});
    }
    return points;
  }

  // From now on, activations of the function may come from any of its calls.
  void call_from_everywhere(uint32_t function) {
    if (all_calls_[function]) return;
    all_calls_[function] = true;
    const std::map<SliceTarget, Cause> known = entered_[function];
    for (const auto& [target, cause] : known) pass_everywhere(function, target, cause);
  }

  void pass_everywhere(uint32_t function, const SliceTarget& target, const Cause& cause) {
    if (target.kind != SliceTarget::Kind::parameter) return look_everywhere(target, cause);
    for_each_step([&](uint32_t f, uint32_t block, const FunctionData::Step& step, uint32_t i) {
      if (!step.call) return;
      if (!effects_.may_call(f, block, *step.call, function)) return;
      call_from_everywhere(f);
      for (const Point& at : points_of(f, block, i))
        pass_argument(function, is_known_callee(at, function), at, target.index, cause);
    });
  }

  Slice take() {
    for (auto& [at, node] : nodes_) slice_.steps.push_back(std::move(node.step));
    std::ranges::stable_sort(slice_.steps, {}, &Slice::Step::distance);
    return std::move(slice_);
  }

  const ProgramFlow& flow_;
  const std::vector<const FunctionData*>& data_;
  const SliceEvidence& evidence_;
  SliceEffects effects_;
  std::vector<std::unique_ptr<SliceActivation>> activations_;
  bool leaves_early_ = false;  // exceptions and longjmp end activations at calls
  uint64_t work_ = 0;

  std::map<Point, Node> nodes_;
  std::deque<std::pair<Point, uint8_t>> pending_;
  std::map<uint32_t, std::vector<Point>> stops_;          // by frame
  std::set<std::pair<uint32_t, uint32_t>> decided_;       // activation and visit
  std::map<SliceTarget, uint32_t> targets_;               // numbers
  std::set<std::pair<std::pair<uint32_t, uint32_t>, uint32_t>> searched_;
  std::set<std::pair<Point, SliceTarget>> left_at_;
  std::map<uint32_t, std::set<Point>> sites_;                   // by function
  std::map<uint32_t, std::map<SliceTarget, Cause>> entered_;    // by function
  std::vector<bool> all_calls_;                                 // by function
  std::set<SliceTarget> everywhere_;
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
