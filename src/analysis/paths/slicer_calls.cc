#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "analysis/paths/slicer.h"

namespace telltale {

void Slicer::add_result(const Point& at, const FunctionData::Call& call) {
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

void Slicer::add_returns(uint32_t callee, const Point& at) {
  const FunctionData& data = *stack_.data()[callee];
  for (uint32_t i = 0; i < data.blocks.size(); ++i) {
    if (!stack_.effects().may_have_run(callee, i) || data.blocks[i].steps.empty()) continue;
    const auto last = static_cast<uint32_t>(data.blocks[i].steps.size() - 1);
    if (data.blocks[i].steps[last].kind == StepKind::ret)
      add({stack_.others(callee), i, last}, cause_of(at, Why::returns), kControl | kUses);
  }
}

void Slicer::look_into(const Point& at, const FunctionData::Call& call, const SliceTarget& target,
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

void Slicer::look_from_ends(uint32_t function, const SliceTarget& target, const Cause& cause) {
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

void Slicer::add_site(uint32_t function, const Point& at) {
  if (!sites_[function].insert(at).second) return;
  const std::map<SliceTarget, Cause>& known = entered_[function];
  for (const auto& [target, cause] : known) look_before_call(function, false, at, target, cause);
}

void Slicer::add_unknown_site(const Point& at) {
  if (!unknown_sites_.insert(at).second) return;
  for (const uint32_t function : stack_.effects().callable()) {
    const std::map<SliceTarget, Cause>& known = entered_[function];
    for (const auto& [target, cause] : known) look_before_call(function, false, at, target, cause);
  }
}

void Slicer::leave(uint32_t index, const SliceTarget& target, const Cause& cause) {
  if (target.kind == SliceTarget::Kind::local || target.kind == SliceTarget::Kind::foreign) return;
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

void Slicer::leave_frame(uint32_t frame, const SliceTarget& target, const Cause& cause) {
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

bool Slicer::may_run_before_main() const {
  return std::ranges::any_of(stack_.flow().functions, &ProgramFlow::Function::is_open);
}

void Slicer::look_before_call(std::optional<uint32_t> function, bool is_next, const Point& at,
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
      (!function || stack_.data()[*function] == nullptr || stack_.data()[*function]->takes_memory))
    for (const FunctionData::Uses& argument : step.call->arguments) use(at, argument, cause);
}

void Slicer::pass_argument(std::optional<uint32_t> function, bool is_direct, const Point& at,
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

void Slicer::look_for_parameter(uint32_t index, uint32_t parameter, const Cause& cause) {
  const SliceTarget target{
      .kind = SliceTarget::Kind::parameter, .is_shared = false, .index = parameter};
  if (searched_.add(index, 0, target)) parameters_.push_back({index, target, cause});
}

void Slicer::leave_with_parameter(const Parameter& of) {
  const uint32_t function = stack_.function_of(of.activation);
  if (stack_.is_frame(of.activation) || !all_calls_[function])
    return leave(of.activation, of.target, of.cause);
  pass_everywhere(function, of.target, of.cause);
}

void Slicer::look_everywhere(const SliceTarget& target, const Cause& cause) {
  if (target.kind == SliceTarget::Kind::parameter) return;
  const SliceTarget inside = SliceEffects::for_callee(target);
  if (!everywhere_.insert(inside).second) return;
  const Cause its = uncertain(cause);
  stack_.for_each_step([&](uint32_t f, uint32_t block, const FunctionData::Step& step, uint32_t i) {
    ++work_;
    const bool writes = writes_of(*stack_.data()[f], step, inside) != Writes::no ||
                        (step.call && stack_.effects().opaque_writes(f, block, *step.call, inside));
    if (!writes) return;
    call_from_everywhere(f);
    for (const Point& at : stack_.points_of(f, block, i)) add(at, its, kControl | kUses);
  });
}

void Slicer::call_from_everywhere(uint32_t function) {
  if (all_calls_[function]) return;
  all_calls_[function] = true;
  const std::map<SliceTarget, Cause>& known = entered_[function];
  for (const auto& [target, cause] : known) pass_everywhere(function, target, cause);
}

void Slicer::pass_everywhere(uint32_t function, const SliceTarget& target, const Cause& cause) {
  if (target.kind != SliceTarget::Kind::parameter ||
      passed_everywhere_.insert({function, target.index}).second)
    passes_.push_back({function, target, cause});
}

void Slicer::pass_to_callers(const Pass& what) {
  if (what.target.kind != SliceTarget::Kind::parameter)
    return look_everywhere(what.target, what.cause);
  const auto pass = [&](uint32_t f, uint32_t block, const FunctionData::Step& step, uint32_t i) {
    ++work_;
    if (!stack_.effects().may_call(f, block, *step.call, what.function)) return;
    call_from_everywhere(f);
    for (const Point& at : stack_.points_of(f, block, i)) {
      pass_argument(what.function, stack_.is_known_callee(at, what.function), at, what.target.index,
                    what.cause);
    }
  };
  for (const uint32_t caller : stack_.effects().callers(what.function))
    stack_.for_each_call_of(caller, pass);
}

}  // namespace telltale
