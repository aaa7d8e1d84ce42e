#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/paths/slicer.h"

namespace telltale {

void Slicer::add_result(const Point& at, const FunctionData::Call& call) {
  const uint32_t function = stack_.function_of(at.activation);
  const uint32_t block = stack_.activation(at.activation).block(at.visit);
  const std::vector<uint32_t>& callees = stack_.effects().callees(function, block, call);
  for (const uint32_t callee : callees) {
    add_site(callee, at, callees);
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

void Slicer::look_into(const Point& at, const SliceAccess& access, const Sought& what) {
  using Opaque = SliceAccess::Opaque;
  const SliceEffects& effects = stack_.effects();
  if (access.opaque != Opaque::nothing && what.target.is_shared) {
    const FunctionData::Call& call = *stack_.step_of(at).call;
    if (access.opaque == Opaque::shared ||
        effects.opaque_writes(stack_.function_of(at.activation), stack_.block_of(at), call,
                              what.target)) {
      if (!call.arguments_only) slice_.notes.insert(Slice::Note::unknown_calls);
      add(at, what.uncertain_cause, kControl | kUses);
    }
  }
  for (const uint32_t callee : *access.callees) {
    if (!effects.may_write(callee, what.inside)) continue;
    add(at, what.uncertain_cause, kControl);
    add_site(callee, at, *access.callees);
    look_from_ends(callee, what.inside_number, what.cause_number);
  }
  if (!access.calls_back || !effects.may_callable_write(what.inside)) return;
  add(at, what.uncertain_cause, kControl);
  add_unknown_site(at);
  if (!unknown_targets_.insert(what.inside_number).second) return;
  for (const uint32_t callee : effects.callable())
    if (effects.may_write(callee, what.inside))
      look_from_ends(callee, what.inside_number, what.cause_number);
}

void Slicer::look_from_ends(uint32_t function, uint32_t target, uint32_t cause) {
  if (!targets_.add_ends(target, function)) return;
  const uint32_t index = stack_.others(function);
  const auto& blocks = stack_.flow().functions[function].blocks;
  for (uint32_t block = 0; block < blocks.size(); ++block) {
    if (!stack_.effects().may_have_run(function, block)) continue;
    if ((blocks[block].successors.empty() || leaves_early_) &&
        targets_.add_visit(target, stack_.number_of_visit(index, block)))
      look_for({index, block, Point::kEnd}, target, cause);
    if (!leaves_early_) continue;
    // An exception may have left it at a call.
    for (const SliceAccess& access : stack_.effects().accesses(function, block))
      if (access.kind == SliceAccess::Kind::call)
        look_for({index, block, access.step + 1}, target, cause);
  }
}

void Slicer::add_site(uint32_t function, const Point& at, const std::vector<uint32_t>& callees) {
  const size_t number = stack_.number_of(at);
  if (number >= sites_at_.size()) sites_at_.resize(number + 1);
  if (sites_at_[number] == callees.size() || !sites_[function].insert(at).second) return;
  ++sites_at_[number];
  for (const auto& [target, cause] : entered(function))
    look_before_call(function, false, at, target, cause);
}

void Slicer::add_unknown_site(const Point& at) {
  if (!unknown_sites_.insert(at).second) return;
  unknown_sites_now_ = nullptr;
  for (const auto& [function, what] : entered_callable())
    look_before_call(function, false, at, what.target, what.cause);
}

const std::vector<Slicer::Entered>& Slicer::entered(uint32_t function) {
  std::vector<Entered>& all = entered_[function];
  if (!is_entered_sorted_[function])
    std::ranges::sort(all, {}, [&](const Entered& each) { return targets_[each.target]; });
  is_entered_sorted_[function] = true;
  return all;
}

const std::vector<Slicer::EnteredBy>& Slicer::entered_callable() {
  if (is_callable_sorted_) return callable_sorted_;
  callable_sorted_ = callable_own_;
  for (const auto& [what, function] : callable_last_)
    callable_sorted_.push_back({function, {what.first, what.second}});
  std::ranges::sort(callable_sorted_, {}, [&](const EnteredBy& each) {
    return std::pair(each.function, targets_[each.what.target]);
  });
  is_callable_sorted_ = true;
  return callable_sorted_;
}

void Slicer::add_entered(uint32_t function, const Entered& what) {
  entered_[function].push_back(what);
  is_entered_sorted_[function] = false;
  if (!stack_.effects().is_callable(function)) return;
  is_callable_sorted_ = false;
  if (!is_same_for_all(what.target)) {
    callable_own_.push_back({function, what});
    return;
  }
  uint32_t& last = callable_last_[{what.target, what.cause}];
  last = std::max(last, function);
}

bool Slicer::is_same_for_all(uint32_t target) const {
  return targets_[target].kind == SliceTarget::Kind::global;
}

void Slicer::leave(uint32_t index, uint32_t target, uint32_t cause) {
  const SliceTarget::Kind kind = targets_[target].kind;
  if (kind == SliceTarget::Kind::local || kind == SliceTarget::Kind::foreign) return;
  if (!targets_.add_entry(target, index)) return;
  if (stack_.is_frame(index)) return leave_frame(index, target, cause);
  const uint32_t function = stack_.function_of(index);
  add_entered(function, {target, cause});
  if (all_calls_[function]) return look_everywhere(target, cause);
  leave_to_sites(function, target, cause);
}

void Slicer::leave_to_sites(uint32_t function, uint32_t target, uint32_t cause) {
  const std::set<Point>& own = sites_[function];
  Sites sites{.own = {own.begin(), own.end()}, .unknown = {}, .unknown_left = 0};
  if (stack_.effects().is_callable(function)) {
    if (unknown_sites_now_ == nullptr)
      unknown_sites_now_ =
          std::make_shared<const Points>(unknown_sites_.begin(), unknown_sites_.end());
    sites.unknown = unknown_sites_now_;
    sites.unknown_left = sites.unknown->size();
  }
  if (sites.unknown_left != 0 && is_same_for_all(target)) {
    waiting_sites_.push_back(std::move(sites));
    searches_.push_back({{.activation = kSites}, target, cause});
    return;
  }
  if (sites.unknown_left != 0) {
    Points all;
    std::ranges::set_union(sites.own, *sites.unknown, std::back_inserter(all));
    sites.own = std::move(all);
  }
  for (const Point& site : sites.own) look_before_call(function, false, site, target, cause);
}

void Slicer::search_next_site(const Search& what) {
  Sites& sites = waiting_sites_.back();
  Cursor& cursor = cursors_[what.target];
  if (cursor.sites == sites.unknown && cursor.cause == what.cause)
    sites.unknown_left = std::min(sites.unknown_left, cursor.left);
  if (sites.own.empty() && sites.unknown_left == 0) {
    waiting_sites_.pop_back();
    return;
  }
  searches_.push_back(what);
  Point from;
  if (sites.unknown_left == 0 ||
      (!sites.own.empty() && (*sites.unknown)[sites.unknown_left - 1] < sites.own.back())) {
    from = sites.own.back();
    sites.own.pop_back();
  } else {
    from = (*sites.unknown)[--sites.unknown_left];
    cursor = {.sites = sites.unknown, .cause = what.cause, .left = sites.unknown_left};
  }
  search({from, what.target, what.cause});
}

void Slicer::leave_frame(uint32_t frame, uint32_t target, uint32_t cause) {
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
  // Before `main`, constructors and other code may have run; before a thread, anything may.
  const ProgramFlow::Function& function = stack_.flow().functions[stack_.function_of(frame)];
  if (has_caller || !function.is_start || may_write_before_main(target))
    look_everywhere(target, cause);
}

bool Slicer::may_write_before_main(uint32_t target) {
  const SliceTarget inside = targets_[targets_.for_callees(target)];
  const auto& functions = stack_.flow().functions;
  for (uint32_t f = 0; f < functions.size(); ++f) {
    if (!functions[f].is_open) continue;
    if (stack_.data()[f] == nullptr || stack_.effects().may_write(f, inside)) return true;
  }
  return false;
}

void Slicer::look_before_call(std::optional<uint32_t> function, bool is_next, const Point& at,
                              uint32_t target, uint32_t cause) {
  const FunctionData::Step& step = stack_.step_of(at);
  const SliceTarget::Kind kind = targets_[target].kind;
  const bool is_callee = function && step.call && stack_.may_call(at, *function);
  // Other code ran between the call and the function: in a library, or its callee ended with a
  // jump to the function.
  if (step.call && !is_callee && kind != SliceTarget::Kind::parameter)
    look_into(at, access_at(at), sought(target, cause));
  if (function && step.call && !is_callee) {
    call_from_everywhere(*function);
    pass_everywhere(*function, target, cause);
  }
  if (kind == SliceTarget::Kind::parameter) {
    const bool is_direct = is_callee && (is_next || stack_.is_known_callee(at, *function));
    pass_argument(function, is_direct, at, targets_[target].index, causes_[cause]);
    return;
  }
  // Interrupted by a signal: the step may have been done.
  if (!step.call && !step.writes.empty()) look_at(at, access_at(at), sought(target, cause));
  look_for(at, target, cause);
  // Arguments in memory are what the caller computed.
  if (step.call && kind == SliceTarget::Kind::memory &&
      (!function || stack_.data()[*function] == nullptr || stack_.data()[*function]->takes_memory))
    for (const FunctionData::Uses& argument : step.call->arguments)
      use(at, argument, causes_[cause]);
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
  cause.name = {};
  if (!step.call) return use(at, step.uses, cause);
  if (is_direct && parameter < step.call->arguments.size())
    return use(at, step.call->arguments[parameter], cause);
  for (const FunctionData::Uses& argument : step.call->arguments) use(at, argument, cause);
  look_for(at, {}, cause);
}

void Slicer::look_for_parameter(uint32_t index, uint32_t parameter, const Cause& cause) {
  const uint32_t target = targets_.number_of(
      {.kind = SliceTarget::Kind::parameter, .is_shared = false, .index = parameter});
  if (targets_.add_visit(target, stack_.number_of_visit(index, 0)))
    parameters_.push_back({index, target, number_of(cause)});
}

void Slicer::leave_with_parameter(const Parameter& of) {
  const uint32_t function = stack_.function_of(of.activation);
  if (stack_.is_frame(of.activation) || !all_calls_[function])
    return leave(of.activation, of.target, of.cause);
  pass_everywhere(function, of.target, of.cause);
}

void Slicer::look_everywhere(uint32_t target, uint32_t cause) {
  if (targets_[target].kind == SliceTarget::Kind::parameter) return;
  const uint32_t number = targets_.for_callees(target);
  if (!targets_.add_everywhere(number)) return;
  const SliceTarget& inside = targets_[number];
  const Cause its = uncertain(causes_[cause]);
  stack_.for_each_access([&](uint32_t f, uint32_t block, const SliceAccess& access) {
    ++work_;
    if (!may_write(f, block, access, inside)) return;
    call_from_everywhere(f);
    stack_.for_each_point(f, block, access.step,
                          [&](const Point& at) { add(at, its, kControl | kUses); });
  });
}

bool Slicer::may_write(uint32_t function, uint32_t block, const SliceAccess& access,
                       const SliceTarget& target) const {
  using Opaque = SliceAccess::Opaque;
  if (access.kind == SliceAccess::Kind::memory) return !access.misses(target);
  if (access.opaque == Opaque::shared && target.is_shared) return true;
  if (!access.has_writes && access.opaque != Opaque::opaque_writes) return false;
  if (access.misses(target)) return false;
  const FunctionData::Step& step = stack_.data()[function]->blocks[block].steps[access.step];
  return writes_of(*stack_.data()[function], step, target) != Writes::no ||
         (step.call && stack_.effects().opaque_writes(function, block, *step.call, target));
}

void Slicer::call_from_everywhere(uint32_t function) {
  if (all_calls_[function]) return;
  all_calls_[function] = true;
  for (const auto& [target, cause] : entered(function)) pass_everywhere(function, target, cause);
}

void Slicer::pass_everywhere(uint32_t function, uint32_t target, uint32_t cause) {
  if (targets_[target].kind != SliceTarget::Kind::parameter ||
      passed_everywhere_.insert({function, targets_[target].index}).second)
    passes_.push_back({function, target, cause});
}

void Slicer::pass_to_callers(const Pass& what) {
  const SliceTarget target = targets_[what.target];
  if (target.kind != SliceTarget::Kind::parameter) return look_everywhere(what.target, what.cause);
  const auto pass = [&](uint32_t f, uint32_t block, const FunctionData::Step& step, uint32_t i) {
    ++work_;
    if (!stack_.effects().may_call(f, block, *step.call, what.function)) return;
    call_from_everywhere(f);
    stack_.for_each_point(f, block, i, [&](const Point& at) {
      pass_argument(what.function, stack_.is_known_callee(at, what.function), at, target.index,
                    causes_[what.cause]);
    });
  };
  for (const uint32_t caller : stack_.effects().callers(what.function))
    stack_.for_each_call_of(caller, pass);
}

}  // namespace telltale
