#include "analysis/paths/slicer.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace telltale {

Slicer::Slicer(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
               const SliceEvidence& evidence, uint64_t most_work)
    : stack_(flow, data, evidence),
      most_work_(most_work),
      sites_(flow.functions.size()),
      entered_(flow.functions.size()),
      is_entered_sorted_(flow.functions.size(), true),
      all_calls_(flow.functions.size(), false) {
  for (const ProgramFlow::Function& function : flow.functions) {
    for (const ProgramFlow::Block& block : function.blocks)
      leaves_early_ = leaves_early_ || block.may_resume;
    leaves_early_ = leaves_early_ || function.calls_setjmp;
  }
}

Slice Slicer::run() {
  for (const SliceEvidence::Frame& frame : stack_.evidence().frames)
    if (stack_.data()[frame.function] == nullptr) slice_.notes.insert(Slice::Note::no_data);
  if (!stack_.evidence().frames.empty() &&
      stack_.data()[stack_.evidence().frames[0].function] != nullptr) {
    add_stop();
    while (const auto next = nodes_.next()) {
      visit(next->first, next->second);
      finish_searches();
      if (work_ < most_work_) continue;
      slice_.notes.insert(Slice::Note::too_long);
      slice_.unfollowed = nodes_.unfollowed(next->first);
      break;
    }
  }
  if (stack_.evidence().others_write) slice_.notes.insert(Slice::Note::other_threads);
  slice_.steps = nodes_.take();
  return std::move(slice_);
}

void Slicer::add_stop() {
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

SliceCause Slicer::cause_of(const Point& at, Why why, std::string_view name) {
  return nodes_.cause_of(at, why, name);
}

void Slicer::visit(const Point& at, uint8_t roles) {
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

void Slicer::add_control(const Point& at) {
  add_deciding(at.activation, at.visit, cause_of(at, Why::decides));
}

void Slicer::add_deciding(uint32_t index, uint32_t of_visit, const Cause& cause) {
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

void Slicer::add_branch(uint32_t index, uint32_t visit, const Cause& cause) {
  const auto& steps = stack_.steps_of(index, visit);
  if (!steps.empty())
    add({index, visit, static_cast<uint32_t>(steps.size() - 1)}, cause, kControl | kUses | kResult);
}

void Slicer::add_incoming(const Point& at, const FunctionData::Step& step) {
  if (step.kind != StepKind::phi) return;
  SliceActivation& of = stack_.activation(at.activation);
  of.for_each_before(at.visit, [&](uint32_t visit) {
    const uint32_t block = of.block(visit);
    const auto& steps = stack_.steps_of(at.activation, visit);
    const auto end = static_cast<uint32_t>(steps.size());
    for (const FunctionData::Incoming& way : step.incoming) {
      if (way.block == block)
        use({at.activation, visit, end}, way.uses, cause_of(at, Why::defines, stack_.name_of(at)));
    }
    const Cause cause = cause_of(at, Why::decides);
    if (stack_.is_branch(at.activation, visit)) add_branch(at.activation, visit, cause);
    add_deciding(at.activation, visit, cause);
  });
}

void Slicer::use(const Point& at, const FunctionData::Uses& uses, const Cause& cause) {
  const FunctionData& data = stack_.data_of(at.activation);
  for (const uint32_t value : uses.values) use_value(at, value, cause);
  for (const FunctionData::Part& part : uses.contents) {
    Cause its = cause;
    if (its.why == Why::defines) its.name = data.objects[part.object].name;
    look_for(at, target_of(data, part), its);
  }
}

void Slicer::use_value(const Point& at, uint32_t value, Cause cause) {
  const FunctionData& data = stack_.data_of(at.activation);
  if (cause.why == Why::defines) {
    const std::string_view name = stack_.name_of_value(data, value);
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

void Slicer::use_arguments(const Point& at, const FunctionData::Call& call) {
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

void Slicer::look_for(const Point& from, const SliceTarget& target, const Cause& cause) {
  look_for(from, targets_.number_of(target), number_of(cause));
}

uint32_t Slicer::number_of(const Cause& cause) {
  if (causes_.empty() || causes_.back() != cause) causes_.push_back(cause);
  return static_cast<uint32_t>(causes_.size() - 1);
}

void Slicer::finish_searches() {
  while (work_ < most_work_) {
    if (!searches_.empty()) {
      const Search next = searches_.back();
      searches_.pop_back();
      next.from.activation == kSites ? search_next_site(next) : search(next);
    } else if (!parameters_.empty()) {
      const Parameter next = parameters_.back();
      parameters_.pop_back();
      leave_with_parameter(next);
    } else if (!passes_.empty()) {
      const Pass next = passes_.back();
      passes_.pop_back();
      pass_to_callers(next);
    } else {
      return;
    }
  }
}

void Slicer::search(const Search& what) {
  if (stack_.evidence().others_write && targets_[what.target].is_shared)
    look_everywhere(what.target, what.cause);
  const Sought its = sought(what.target, what.cause);
  pending_ = {what.from};
  while (!pending_.empty() && work_ < most_work_) {
    const Point at = pending_.back();
    pending_.pop_back();
    SliceActivation& of = stack_.activation(at.activation);
    const auto& accesses =
        stack_.effects().accesses(stack_.function_of(at.activation), of.block(at.visit));
    auto access = std::ranges::lower_bound(accesses, at.step, {}, &SliceAccess::step);
    bool is_hidden = false;
    ++work_;
    while (access != accesses.begin() && !is_hidden) {
      ++work_;
      --access;
      is_hidden = look_at({at.activation, at.visit, access->step}, *access, its);
    }
    if (is_hidden) continue;
    if (of.is_first(at.visit)) leave(at.activation, what.target, what.cause);
    if (of.is_loose() && !targets_.add_all(what.target, at.activation)) continue;
    const size_t first = stack_.number_of_visit(at.activation, 0);
    of.for_each_before(at.visit, [&](uint32_t visit) {
      if (targets_.add_visit(what.target, first + visit))
        pending_.push_back({at.activation, visit, Point::kEnd});
    });
  }
}

Slicer::Sought Slicer::sought(uint32_t target, uint32_t cause) {
  const uint32_t inside = targets_.for_callees(target);
  return {.number = target,
          .inside_number = inside,
          .cause_number = cause,
          .target = targets_[target],
          .inside = targets_[inside],
          .cause = causes_[cause],
          .uncertain_cause = uncertain(causes_[cause])};
}

bool Slicer::look_at(const Point& at, const SliceAccess& access, const Sought& what) {
  if (access.kind == SliceAccess::Kind::call) {
    look_into(at, access, what);
    return false;
  }
  if (access.misses(what.target)) return false;
  const Writes writes =
      access.kind == SliceAccess::Kind::memory
          ? Writes::maybe
          : writes_of(stack_.data_of(at.activation), stack_.step_of(at), what.target);
  if (writes == Writes::no) return false;
  add(at, writes == Writes::maybe ? what.uncertain_cause : what.cause, kControl | kUses);
  return writes == Writes::all && !stack_.activation(at.activation).is_loose();
}

}  // namespace telltale
